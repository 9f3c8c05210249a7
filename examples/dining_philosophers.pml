// Three philosophers who all take the left fork first: they can starve together.
// Expected: FALSE (no-deadlock)

#define N 3

chan fork[N] = [1] of { bit };

proctype Philosopher(byte left; byte right) {
	do
	:: fork[left]?_ ->
		fork[right]?_;
		fork[right]!1;
		fork[left]!1
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. N - 1) {
			fork[i]!1;
			run Philosopher(i, (i + 1) % N)
		}
	}
}

/* N philosophers. Forks are channels with one message; who eats writes down how often, for himself.
 * The last one takes the forks in the other order, so that there is no deadlock. */
#ifndef N
#define N 4
#endif

chan fork[N] = [1] of { bit };

proctype philosopher(byte me)
{
	byte first;
	byte second;
	byte meals;
	if
	:: (me < N - 1) -> first = me; second = me + 1
	:: (me == N - 1) -> first = 0; second = me
	fi;
	do
	:: fork[first]?_;
	   fork[second]?_;
	   meals = (meals + 1) % 2;
	   fork[second]!1;
	   fork[first]!1
	od
}

init {
	byte i;
	atomic {
		do
		:: (i < N) -> fork[i]!1; run philosopher(i); i++
		:: (i == N) -> break
		od
	}
}

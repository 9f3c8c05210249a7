/* N philosophers and a butler who lets at most N - 1 of them sit down. Forks are variables. */
#ifndef N
#define N 5
#endif

bool taken[N];
byte seated;

proctype philosopher(byte me)
{
	byte right;
	right = (me + 1) % N;
	do
	:: atomic { (seated < N - 1) -> seated++ };
	   atomic { !taken[me] -> taken[me] = true };
	   atomic { !taken[right] -> taken[right] = true };
	   printf("%d eats\n", me);
	   taken[right] = false;
	   taken[me] = false;
	   seated--
	od
}

init {
	byte i;
	atomic {
		do
		:: (i < N) -> run philosopher(i); i++
		:: (i == N) -> break
		od
	}
}

/* N numbers go through a row of N cells, each of which keeps the largest that it has seen.
 * Nobody reads what would come out of the last one, because nothing does. */
#ifndef N
#define N 10
#endif

chan link[N + 1] = [1] of { short };

proctype source(chan out)
{
	short number;
	short count;
	xs out;
	number = 1;
	do
	:: count < N -> number = (number * 7 + 3) % 101; out!number; count++
	:: count >= N -> break
	od
}

proctype cell(chan in; chan out; short left)
{
	short kept;
	short next;
	xr in;
	xs out;
	in?kept;
	do
	:: left > 0 ->
	   in?next;
	   left--;
	   if
	   :: next > kept -> out!kept; kept = next
	   :: next <= kept -> out!next
	   fi
	:: left == 0 -> break
	od
}

init {
	byte i;
	atomic {
		run source(link[0]);
		do
		:: i < N -> run cell(link[i], link[i + 1], N - 1 - i); i++
		:: i == N -> break
		od
	}
}

/* Peterson's algorithm for N processes: N - 1 doors, at each of which one stays behind. */
#ifndef N
#define N 3
#endif

byte level[N];
byte last[N];
byte inside;

active [N] proctype process()
{
	byte door;
	byte other;
	do
	:: door = 1;
	   do
	   :: (door < N) ->
		level[_pid] = door;
		last[door] = _pid;
		other = 0;
		do
		:: (other < N) ->
			if
			:: (other != _pid) ->
			   (level[other] < door || last[door] != _pid)
			:: (other == _pid)
			fi;
			other++
		:: (other == N) -> break
		od;
		door++
	   :: (door == N) -> break
	   od;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   level[_pid] = 0
	od
}

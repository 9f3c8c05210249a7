/* Election in a ring where messages go one way (Dolev, Klawe and Rodeh): the largest number wins. */
#ifndef N
#define N 5
#endif
#ifndef L
#define L (2 * N)
#endif

mtype = { one, two, winner };

chan link[N] = [L] of { mtype, byte };
byte leaders;

proctype node(chan in; chan out; byte mine)
{
	bool active_now = true;
	bool knows;
	byte number;
	byte largest = mine;
	byte neighbour;

	xr in;
	xs out;

	out!one(mine);
end:
	do
	:: in?one(number) ->
	   if
	   :: active_now ->
		if
		:: number != largest -> out!two(number); neighbour = number
		:: else -> knows = true; out!winner(number)
		fi
	   :: else -> out!one(number)
	   fi
	:: in?two(number) ->
	   if
	   :: active_now ->
		if
		:: neighbour > number && neighbour > largest ->
		   largest = neighbour;
		   out!one(neighbour)
		:: else -> active_now = false
		fi
	   :: else -> out!two(number)
	   fi
	:: in?winner(number) ->
	   if
	   :: number != mine -> skip
	   :: else -> leaders++; assert(leaders == 1)
	   fi;
	   if
	   :: knows -> skip
	   :: else -> out!winner(number)
	   fi;
	   break
	od
}

init {
	byte i;
	atomic {
		i = 1;
		do
		:: i <= N -> run node(link[i - 1], link[i % N], (N + 2 - i) % N + 1); i++
		:: i > N -> break
		od
	}
}

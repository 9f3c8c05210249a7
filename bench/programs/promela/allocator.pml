/* A server lends RESOURCES things to N clients. A client asks for one or two, waits for the answer, works, and
 * gives back what it got. The server answers a request as soon as it can. */
#ifndef N
#define N 2
#endif
#ifndef RESOURCES
#define RESOURCES 2
#endif

mtype = { ask, give_back };

chan requests = [N] of { mtype, byte, byte };
chan answer[N] = [1] of { byte };

proctype client(byte me)
{
	byte wanted;
	byte got;
	do
	:: if
	   :: wanted = 1
	   :: wanted = 2
	   fi;
	   requests!ask, me, wanted;
	   answer[me]?got;
	   wanted = 0;
	   requests!give_back, me, got;
	   got = 0
	od
}

proctype server()
{
	byte free = RESOURCES;
	byte who;
	byte amount;
	byte waiting[N];
	byte i;
	do
	:: requests?ask, who, amount ->
	   waiting[who] = amount;
	   i = 0;
	   do
	   :: (i < N) ->
		if
		:: (waiting[i] > 0 && waiting[i] <= free) ->
		   free = free - waiting[i];
		   answer[i]!waiting[i];
		   waiting[i] = 0
		:: else
		fi;
		i++
	   :: (i >= N) -> break
	   od
	:: requests?give_back, who, amount ->
	   free = free + amount;
	   i = 0;
	   do
	   :: (i < N) ->
		if
		:: (waiting[i] > 0 && waiting[i] <= free) ->
		   free = free - waiting[i];
		   answer[i]!waiting[i];
		   waiting[i] = 0
		:: else
		fi;
		i++
	   :: (i >= N) -> break
	   od
	od
}

init {
	byte i;
	atomic {
		run server();
		do
		:: (i < N) -> run client(i); i++
		:: (i == N) -> break
		od
	}
}

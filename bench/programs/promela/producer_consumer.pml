/* One producer sends the numbers 1 to N through a buffered channel, one consumer takes them. */
#ifndef N
#define N 100
#endif
#ifndef SIZE
#define SIZE 255
#endif

chan buffer = [SIZE] of { int };

proctype consumer()
{
	int item;
	int count = 1;
	do
	:: (count <= N) -> buffer?item; count++
	:: (count > N) -> break
	od
}

proctype producer()
{
	int count = 1;
	do
	:: (count <= N) -> buffer!count; count++
	:: (count > N) -> break
	od
}

init {
	atomic {
		run producer();
		run consumer()
	}
}

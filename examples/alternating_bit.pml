// A sender and a receiver over channels that lose messages: every message arrives once and in order.
// The sender sends again when nothing else can happen.
// Expected: TRUE
// Expected with --check non-progress: FALSE (no-non-progress)

mtype = { msg, ack };

chan forth = [1] of { mtype, byte, bit };
chan back = [1] of { mtype, bit };

active proctype Sender() {
	byte data;
	bit number;
	do
	:: forth!msg(data, number) ->
		do
		:: back?ack(eval(number)) ->
			data = (data + 1) % 4;
			number = 1 - number;
			break
		:: back?ack(eval(1 - number))
		:: timeout -> forth!msg(data, number)
		od
	od
}

active proctype Receiver() {
	byte data, expected;
	bit number, next;
	do
	:: forth?msg(data, number) ->
		if
		:: number == next ->
progress:		assert(data == expected);
			expected = (expected + 1) % 4;
			next = 1 - next
		:: else
		fi;
		back!ack(number)
	od
}

active proctype Loss() {
	do
	:: forth?_, _, _
	:: back?_, _
	od
}

// Peterson's algorithm for two processes: mutual exclusion, and nobody waits forever if the scheduler is fair.
// Expected with --check assert,deadlock: TRUE
// Expected with --claim mutex: TRUE
// Expected with --claim served: FALSE (valid-ltl)
// Expected with --claim served --fair weak: TRUE

bool wants[2];
byte turn, inside;

active [2] proctype P() {
	do
	:: wants[_pid] = true;
	   turn = 1 - _pid;
	   !wants[1 - _pid] || turn == _pid;
	   inside++;
critical:
	   inside--;
	   wants[_pid] = false
	od
}

ltl mutex { [] (inside <= 1) }
ltl served { [] (wants[0] -> <> P[0]@critical) }

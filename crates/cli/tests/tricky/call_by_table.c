// A worker calls through a table of function pointers. Only `open_door` and `knock` are ever in the slot that is used;
// `ring` is in the table, too, so that the pointer may point to it as far as an analysis can tell.
// `call(f)` is about the function that is called, not about those that might have been.
// Expected --ltl 'G !call(ring)': TRUE
// Expected --ltl 'G !call(knock)': FALSE (valid-ltl)
// Expected --ltl 'F call(open_door)' --fair weak: TRUE
// Expected --ltl 'G (call(open_door) -> knocks == 1)': TRUE
// Expected --ltl 'G (call(knock) -> knocks == 1)': FALSE (valid-ltl)
// Expected --ltl 'G !(call(knock) && call(open_door))': TRUE
// Expected --ltl 'G (call(knock) -> F door == 1)' --fair weak: TRUE
// Expected --check assert,deadlock,race,memory: TRUE
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int knocks, door, bell;

static int knock(int times) { knocks += times; return knocks; }
static int open_door(int wide) { door = wide; return door; }
static int ring(int times) { bell += times; return bell; }

static int (*table[3])(int) = { knock, open_door, ring };

static void *worker(void *arg) {
    for (int step = 0; step < 2; step++)
        assert(table[step](1) == 1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    assert(bell == 0);
    return 0;
}

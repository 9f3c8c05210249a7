// Waiting in a loop is answered only if the scheduler lets the other thread run: try --fair weak.
// Expected: FALSE (valid-ltl)
// Expected with --fair weak: TRUE
//@ ltl finishes: F done == 1
#include <pthread.h>

int ready, done;

void *helper(void *arg) {
    ready = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, helper, NULL);
    while (!ready)
        ;
    done = 1;
    pthread_join(thread, NULL);
    return 0;
}

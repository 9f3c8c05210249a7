// Two threads add to a counter without a lock: one of the updates can get lost.
// Expected: FALSE (unreach-call)
//@ check assert, deadlock
#include <assert.h>
#include <pthread.h>

int counter = 0;

void *worker(void *arg) {
    counter++;
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(counter == 2);
    return 0;
}

// The flag is handed over without a lock: nothing orders the write of the message and its read.
// Expected: FALSE (no-data-race)
//@ check race
#include <pthread.h>

int message;
int ready;

void *producer(void *arg) {
    message = 42;
    ready = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    if (ready) {
        int seen = message;
        (void)seen;
    }
    pthread_join(thread, NULL);
    return 0;
}

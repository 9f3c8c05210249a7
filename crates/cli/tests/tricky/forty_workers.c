// Forty workers each take one ticket under a lock; a guard checks that not all are gone. Only a run in which every
// worker has been there before the guard looks breaks it: no short run does, and a search of all interleavings of
// forty threads never comes there. The number of threads is seen from the loop, so that no bound on threads is met.
//
// Expected --check assert: FALSE (unreach-call)
// Expected --ltl 'G taken < 40': FALSE (valid-ltl)
// Expected --check assert --max-threads 8: UNKNOWN (bound on the number of threads: 8)
#include <assert.h>
#include <pthread.h>

#define WORKERS 40

int taken;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *guard(void *unused) {
    pthread_mutex_lock(&lock);
    assert(taken < WORKERS);
    pthread_mutex_unlock(&lock);
    return 0;
}

void *worker(void *unused) {
    pthread_mutex_lock(&lock);
    taken++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t first, other;
    pthread_create(&first, 0, guard, 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&other, 0, worker, 0);
    pthread_exit(0);
}

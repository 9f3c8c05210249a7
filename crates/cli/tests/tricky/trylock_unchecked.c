// The result of trylock is thrown away: the thread that did not get the lock goes on as if it had it, and gives back
// what it does not hold.
// Expected --check race: FALSE (no-data-race)
// Expected --check locks: FALSE (valid-locks)
// Expected --check deadlock: UNKNOWN (undefined behaviour: lock given back by a thread that does not hold it)
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *worker(void *unused) {
    pthread_mutex_trylock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

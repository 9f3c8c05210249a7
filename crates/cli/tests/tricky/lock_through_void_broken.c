// Each thread gets a lock through a void pointer, but each its own: two locks protect nothing.
// Expected --check race: FALSE (no-data-race)
// Expected --check assert: FALSE (unreach-call)
// Expected --check deadlock,memory,locks: TRUE
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static int balance;

static void with_lock(void *lock, int amount) {
    pthread_mutex_lock(lock);
    balance += amount;
    pthread_mutex_unlock(lock);
}

static void *deposit(void *lock) {
    with_lock(lock, 10);
    return NULL;
}

static void *withdraw(void *lock) {
    with_lock(lock, -10);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, deposit, &locks[0]);
    pthread_create(&b, NULL, withdraw, &locks[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(balance == 0);
    return 0;
}

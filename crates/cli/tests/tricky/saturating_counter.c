// The right twin of overflow_in_counter.c: the counter stops at its limit.
// Expected --check assert,deadlock,race,overflow: TRUE
#include <assert.h>
#include <limits.h>
#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    int count;
} requests = { PTHREAD_MUTEX_INITIALIZER, INT_MAX - 1 };

static void *client(void *unused) {
    pthread_mutex_lock(&requests.lock);
    if (requests.count < INT_MAX)
        requests.count++;
    assert(requests.count > 0);
    pthread_mutex_unlock(&requests.lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, client, NULL);
    pthread_create(&b, NULL, client, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

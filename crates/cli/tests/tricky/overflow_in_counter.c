// A counter next to its limit: two increments overflow it. Where nobody asks for it, signed overflow wraps,
// and the assertion behind it fails.
// Expected --check overflow: FALSE (no-overflow)
// Expected --check assert: FALSE (unreach-call)
// Expected --check race,deadlock: TRUE
#include <assert.h>
#include <limits.h>
#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    int count;
} requests = { PTHREAD_MUTEX_INITIALIZER, INT_MAX - 1 };

static void *client(void *unused) {
    pthread_mutex_lock(&requests.lock);
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

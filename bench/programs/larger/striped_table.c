// A table of counters in two stripes, each under a lock of its own; keys go to the stripe of their parity.
// The sums of the stripes are what was put in.
// Expected: TRUE
//@ check assert, deadlock
#include <assert.h>
#include <pthread.h>

#define WRITERS 3
#define BUCKETS 2

typedef struct {
    pthread_mutex_t lock;
    int keys[BUCKETS];
    int values[BUCKETS];
    int n_used;
} stripe_t;

static stripe_t even = { .lock = PTHREAD_MUTEX_INITIALIZER };
static stripe_t odd = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int put_even(int key, int value) {
    int found = -1;
    pthread_mutex_lock(&even.lock);
    for (int i = 0; i < even.n_used; i++)
        if (even.keys[i] == key)
            found = i;
    if (found < 0 && even.n_used < BUCKETS) {
        found = even.n_used;
        even.keys[found] = key;
        even.n_used++;
    }
    if (found >= 0)
        even.values[found] += value;
    pthread_mutex_unlock(&even.lock);
    return found >= 0;
}

static int put_odd(int key, int value) {
    int found = -1;
    pthread_mutex_lock(&odd.lock);
    for (int i = 0; i < odd.n_used; i++)
        if (odd.keys[i] == key)
            found = i;
    if (found < 0 && odd.n_used < BUCKETS) {
        found = odd.n_used;
        odd.keys[found] = key;
        odd.n_used++;
    }
    if (found >= 0)
        odd.values[found] += value;
    pthread_mutex_unlock(&odd.lock);
    return found >= 0;
}

static void put(int key, int value) {
    int is_put = key % 2 == 0 ? put_even(key, value) : put_odd(key, value);
    assert(is_put);
}

static void *writer(void *arg) {
    put(2, 1);
    put(3, 1);
    put(4, 1);
    return NULL;
}

int main(void) {
    pthread_t writers[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&writers[i], NULL, writer, NULL);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    assert(even.n_used == 2 && odd.n_used == 1);
    assert(even.values[0] + even.values[1] == 2 * WRITERS);
    assert(odd.values[0] == WRITERS);
    return 0;
}

// A ticket lock made of atomic operations, used by threads that work on a shared record in turn.
// One thread is inside at a time, and tickets are served in order.
// Expected: TRUE
//@ check assert, deadlock
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 3
#define ROUNDS 1

static atomic_int next_ticket = 0;
static atomic_int now_serving = 0;

static pthread_mutex_t inside_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_inside = 0;
static int last_served = -1;
static int total = 0;

static int enter(void) {
    int mine = atomic_fetch_add(&next_ticket, 1);
    while (atomic_load(&now_serving) != mine) {
    }
    return mine;
}

static void leave(int mine) {
    atomic_store(&now_serving, mine + 1);
}

static void check_in(int mine) {
    pthread_mutex_lock(&inside_lock);
    n_inside++;
    assert(n_inside == 1);
    assert(mine == last_served + 1);
    last_served = mine;
    pthread_mutex_unlock(&inside_lock);
}

static void check_out(void) {
    pthread_mutex_lock(&inside_lock);
    n_inside--;
    total = total + 1;
    pthread_mutex_unlock(&inside_lock);
}

static void *worker(void *arg) {
    int seed = 1;
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 5;
        seed = seed % 7;
        int mine = enter();
        check_in(mine);
        seed = seed + mine;
        check_out();
        leave(mine);
    }
    return NULL;
}

int main(void) {
    pthread_t workers[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i], NULL);
    assert(total == THREADS * ROUNDS);
    assert(n_inside == 0);
    return 0;
}

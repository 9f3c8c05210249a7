// Transfers between two accounts, each with a lock of its own. Locks are taken in the order of the accounts.
// No money is made or lost, and no account is overdrawn.
// Expected: TRUE
//@ check assert, deadlock
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock_b = PTHREAD_MUTEX_INITIALIZER;
static int balance_a = 10;
static int balance_b = 10;
static int n_transfers_a = 0;
static int n_transfers_b = 0;

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_done = 0;
static int n_refused = 0;

static void note(int is_done) {
    pthread_mutex_lock(&log_lock);
    if (is_done)
        n_done++;
    else
        n_refused++;
    pthread_mutex_unlock(&log_lock);
}

static void from_a_to_b(int amount) {
    int is_done = 0;
    pthread_mutex_lock(&lock_a);
    pthread_mutex_lock(&lock_b);
    if (balance_a >= amount) {
        balance_a -= amount;
        balance_b += amount;
        n_transfers_a++;
        is_done = 1;
    }
    assert(balance_a + balance_b == 20);
    pthread_mutex_unlock(&lock_b);
    pthread_mutex_unlock(&lock_a);
    note(is_done);
}

static void from_b_to_a(int amount) {
    int is_done = 0;
    pthread_mutex_lock(&lock_a);
    pthread_mutex_lock(&lock_b);
    if (balance_b >= amount) {
        balance_b -= amount;
        balance_a += amount;
        n_transfers_b++;
        is_done = 1;
    }
    assert(balance_a + balance_b == 20);
    pthread_mutex_unlock(&lock_b);
    pthread_mutex_unlock(&lock_a);
    note(is_done);
}

static void *spender(void *arg) {
    from_a_to_b(7);
    from_a_to_b(6);
    return NULL;
}

static void *earner(void *arg) {
    from_b_to_a(5);
    from_b_to_a(8);
    return NULL;
}

static void *auditor(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock_a);
        int a = balance_a;
        pthread_mutex_lock(&lock_b);
        int b = balance_b;
        pthread_mutex_unlock(&lock_b);
        pthread_mutex_unlock(&lock_a);
        assert(a >= 0 && b >= 0);
        assert(a + b == 20);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, spender, NULL);
    pthread_create(&threads[1], NULL, earner, NULL);
    pthread_create(&threads[2], NULL, auditor, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(n_done + n_refused == 4);
    assert(balance_a + balance_b == 20);
    return 0;
}

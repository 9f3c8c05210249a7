// Before there is a second thread, main computes for very long, by itself and without anything to choose or to be seen: a
// search that goes through that at once must still look at its limits.
// Expected --check assert --states 1000: UNKNOWN (state limit 1000)
// Expected --check assert --states 1000 --threads 2: UNKNOWN (state limit 1000)
// Expected --check assert --states 1000 --search dfs: UNKNOWN (state limit 1000)
// Expected --states 1000 --ltl 'F (count == 1)': UNKNOWN (state limit 1000)
// Expected --check assert -D ROUNDS=15: TRUE
#include <assert.h>
#include <pthread.h>

#ifndef ROUNDS
#define ROUNDS 45
#endif

static int count;

static int fibonacci(int n) {
    if (n < 2)
        return n;
    return fibonacci(n - 1) + fibonacci(n - 2);
}

static void *worker(void *unused) {
    (void)unused;
    count = 1;
    return NULL;
}

int main(void) {
    pthread_t id;
    int rounds = fibonacci(ROUNDS);
    if (rounds > 0) {
        pthread_create(&id, NULL, worker, NULL);
        pthread_join(id, NULL);
    }
    assert(count == 1);
    return 0;
}

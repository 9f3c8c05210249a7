// Two workers with a job that only one of them can do. Whoever sees that nothing is left to be done sends both home.
// Jobs that wait and workers who are busy are counted in one number, which is 0 only when all is done, and stays so.
// Expected --check assert,deadlock,race: TRUE
// Expected --threads 2 --check assert,deadlock,race: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int left = 2;
static atomic_int jobs;
static atomic_int home;
static int done;

static void *finder(void *unused) {
    (void)unused;
    atomic_fetch_add(&left, 1);
    atomic_store(&jobs, 1);
    atomic_fetch_sub(&left, 1);
    while (!atomic_load(&home) && atomic_load(&left) != 0) {
    }
    atomic_store(&home, 1);
    return 0;
}

static void *doer(void *unused) {
    (void)unused;
    atomic_fetch_sub(&left, 1);
    while (!atomic_load(&home) && atomic_load(&left) != 0) {
        if (atomic_load(&jobs) == 1) {
            atomic_fetch_add(&left, 1);
            atomic_store(&jobs, 0);
            atomic_fetch_sub(&left, 1);
            if (!atomic_load(&home)) {
                done = 1;
            }
            atomic_fetch_sub(&left, 1);
        }
    }
    atomic_store(&home, 1);
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, finder, 0);
    pthread_create(&second, 0, doer, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(done == 1);
    return 0;
}

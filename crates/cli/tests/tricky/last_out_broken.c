// As last_out.c, but a worker looks first at who is busy and then at the jobs that wait: between the two looks the other one may
// have taken the job, and be sent home with it.
// Expected --check assert: FALSE (unreach-call)
// Expected --threads 2 --check assert: FALSE (unreach-call)
// Expected --check deadlock,race: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int busy = 2;
static atomic_int jobs;
static atomic_int home;
static int done;

static int is_over(void) {
    int idle = atomic_load(&busy) == 0;
    return atomic_load(&home) || (idle && atomic_load(&jobs) == 0);
}

static void *finder(void *unused) {
    (void)unused;
    atomic_store(&jobs, 1);
    atomic_fetch_sub(&busy, 1);
    while (!is_over()) {
    }
    atomic_store(&home, 1);
    return 0;
}

static void *doer(void *unused) {
    (void)unused;
    atomic_fetch_sub(&busy, 1);
    while (!is_over()) {
        if (atomic_load(&jobs) == 1) {
            atomic_fetch_add(&busy, 1);
            atomic_store(&jobs, 0);
            if (!atomic_load(&home)) {
                done = 1;
            }
            atomic_fetch_sub(&busy, 1);
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

// A local is set on one path only: on the other one its value is arbitrary, and the assertion can fail.
// Expected --check assert: FALSE (unreach-call)
// Expected --check uninitialized: FALSE (no-uninitialized)
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_bool configured;

static void *configure(void *unused) {
    configured = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    int level;
    pthread_create(&thread, NULL, configure, NULL);
    if (configured)
        level = 3;
    assert(level == 3);
    pthread_join(thread, NULL);
    return 0;
}

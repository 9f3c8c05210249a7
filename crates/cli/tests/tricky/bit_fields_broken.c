// Neighbouring bit-fields are one memory location: to write one of them, the other is written back with it, and one of
// the two flags can get lost.
// Expected --check race: FALSE (no-data-race)
// Expected --check assert: FALSE (unreach-call)
// Expected --check deadlock: TRUE
#include <assert.h>
#include <pthread.h>

struct device {
    unsigned ready : 1;
    unsigned failed : 1;
};

static struct device device;

static void *probe(void *arg) {
    struct device *d = arg;
    d->ready = 1;
    return NULL;
}

static void *watchdog(void *arg) {
    struct device *d = arg;
    d->failed = 1;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, probe, &device);
    pthread_create(&b, NULL, watchdog, &device);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(device.ready && device.failed);
    return 0;
}

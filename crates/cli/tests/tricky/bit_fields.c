// Two flags of a device, each written by its own thread, with a zero-width bit-field between them: they are different
// memory locations (C11 3.14), so there is neither a race nor a lost update.
// Expected --check assert,deadlock,race: TRUE
#include <assert.h>
#include <pthread.h>

struct device {
    unsigned ready : 1;
    unsigned : 0;
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

// As thread_entry_by_table.c, but the second service forgets the lock.
// Expected --check race: FALSE (no-data-race)
// Expected --check assert: FALSE (unreach-call)
// Expected --check deadlock,memory,locks: TRUE
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

typedef void *(*entry_t)(void *);

struct service {
    const char *name;
    entry_t entry;
    int weight;
};

static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void add(int amount) {
    pthread_mutex_lock(&total_lock);
    total += amount;
    pthread_mutex_unlock(&total_lock);
}

static void *run_once(void *arg) {
    struct service *service = arg;
    add(service->weight);
    return NULL;
}

static void *run_twice(void *arg) {
    struct service *service = arg;
    total += service->weight;
    total += service->weight;
    return NULL;
}

static struct service services[] = {
    { "once", run_once, 1 },
    { "twice", run_twice, 10 },
};

#define N_SERVICES (sizeof services / sizeof services[0])

static pthread_t start(struct service *service) {
    pthread_t thread;
    pthread_create(&thread, NULL, service->entry, service);
    return thread;
}

int main(void) {
    pthread_t threads[N_SERVICES];
    for (size_t i = 0; i < N_SERVICES; i++)
        threads[i] = start(&services[i]);
    for (size_t i = 0; i < N_SERVICES; i++)
        pthread_join(threads[i], NULL);
    assert(total == 21);
    return 0;
}

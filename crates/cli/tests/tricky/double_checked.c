// Double-checked initialisation with an atomic pointer: the block is filled before it is published, and who sees the
// pointer sees what it points to. The memory orders that are asked for (acquire, release) are enough in C11.
// Expected --check assert,deadlock,race,memory: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct config {
    int size;
    int limit;
};

static _Atomic(struct config *) instance;
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

static struct config *get_config(void) {
    struct config *config = atomic_load_explicit(&instance, memory_order_acquire);
    if (config == NULL) {
        pthread_mutex_lock(&init_lock);
        config = atomic_load_explicit(&instance, memory_order_relaxed);
        if (config == NULL) {
            config = malloc(sizeof(struct config));
            if (config == NULL)
                abort();
            config->size = 4;
            config->limit = 2 * config->size;
            atomic_store_explicit(&instance, config, memory_order_release);
        }
        pthread_mutex_unlock(&init_lock);
    }
    return config;
}

static void *user(void *unused) {
    struct config *config = get_config();
    assert(config->limit == 8);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(get_config());
    return 0;
}

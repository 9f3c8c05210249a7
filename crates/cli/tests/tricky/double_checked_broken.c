// Double-checked initialisation as it stood in many programs: the pointer is plain, so the first look at it races with
// the store, and it is published before the block is filled.
// Expected --check race: FALSE (no-data-race)
// Expected --check assert: FALSE (unreach-call)
// Expected --check deadlock: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct config {
    int size;
    int limit;
};

static struct config *instance;
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

static struct config *get_config(void) {
    if (instance == NULL) {
        pthread_mutex_lock(&init_lock);
        if (instance == NULL) {
            instance = calloc(1, sizeof(struct config));
            if (instance == NULL)
                abort();
            instance->size = 4;
            instance->limit = 2 * instance->size;
        }
        pthread_mutex_unlock(&init_lock);
    }
    return instance;
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

// As recursive_mutex.c, but the mutex is a normal one: the inner lock waits for the outer one of the same thread.
// Expected --check deadlock: FALSE (no-deadlock)
// Expected --check assert,race,locks: TRUE
#include <assert.h>
#include <pthread.h>

struct stats {
    pthread_mutex_t lock;
    int hits;
    int total;
};

static struct stats stats;

static void stats_init(struct stats *s) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_NORMAL);
    pthread_mutex_init(&s->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static int stats_total(struct stats *s) {
    pthread_mutex_lock(&s->lock);
    int total = s->total;
    pthread_mutex_unlock(&s->lock);
    return total;
}

static void stats_hit(struct stats *s, int amount) {
    pthread_mutex_lock(&s->lock);
    s->hits++;
    s->total = stats_total(s) + amount;
    pthread_mutex_unlock(&s->lock);
}

static void *client(void *arg) {
    stats_hit(&stats, *(int *)arg);
    return NULL;
}

int main(void) {
    int amounts[2] = { 1, 2 };
    pthread_t clients[2];
    stats_init(&stats);
    for (int i = 0; i < 2; i++)
        pthread_create(&clients[i], NULL, client, &amounts[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(clients[i], NULL);
    assert(stats.hits == 2);
    assert(stats.total == 3);
    pthread_mutex_destroy(&stats.lock);
    return 0;
}

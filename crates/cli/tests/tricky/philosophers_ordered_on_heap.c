// As philosophers_on_heap.c, but forks are taken in the order of their addresses: no circle can close.
// Expected --check assert,deadlock,race,memory,locks,leak: TRUE
#include <pthread.h>
#include <stdlib.h>

#define N 2

struct fork {
    pthread_mutex_t lock;
    int uses;
};

struct philosopher {
    pthread_t thread;
    struct fork *first, *second;
};

static void *dine(void *arg) {
    struct philosopher *me = arg;
    pthread_mutex_lock(&me->first->lock);
    pthread_mutex_lock(&me->second->lock);
    me->first->uses++;
    me->second->uses++;
    pthread_mutex_unlock(&me->second->lock);
    pthread_mutex_unlock(&me->first->lock);
    return NULL;
}

int main(void) {
    struct fork *forks = calloc(N, sizeof *forks);
    struct philosopher *table = calloc(N, sizeof *table);
    if (forks == NULL || table == NULL)
        return 1;
    for (int i = 0; i < N; i++) {
        pthread_mutex_init(&forks[i].lock, NULL);
        struct fork *left = &forks[i], *right = &forks[(i + 1) % N];
        table[i].first = left < right ? left : right;
        table[i].second = left < right ? right : left;
    }
    for (int i = 0; i < N; i++)
        pthread_create(&table[i].thread, NULL, dine, &table[i]);
    for (struct philosopher *p = table; p < table + N; p++)
        pthread_join(p->thread, NULL);
    free(table);
    free(forks);
    return 0;
}

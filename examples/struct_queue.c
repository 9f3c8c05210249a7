// A queue in a struct, with its lock and condition variables, that threads get by pointer.
// Expected: TRUE
//@ check assert, deadlock, race, memory
//@ ltl never_overfull: G(queue.count <= 2)
//@ ltl emptied: G(queue.count > 0 -> F(queue.count == 0))
#include <assert.h>
#include <pthread.h>

#define SIZE 2
#define ITEMS 3

struct queue {
    int items[SIZE];
    int first, count;
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
};

struct queue queue = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
};

void put(struct queue *q, int item) {
    pthread_mutex_lock(&q->lock);
    while (q->count == SIZE)
        pthread_cond_wait(&q->not_full, &q->lock);
    q->items[(q->first + q->count) % SIZE] = item;
    q->count++;
    pthread_cond_signal(&q->not_empty);
    pthread_mutex_unlock(&q->lock);
}

int take(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    while (q->count == 0)
        pthread_cond_wait(&q->not_empty, &q->lock);
    int item = q->items[q->first];
    q->first = (q->first + 1) % SIZE;
    q->count--;
    pthread_cond_signal(&q->not_full);
    pthread_mutex_unlock(&q->lock);
    return item;
}

void *producer(void *arg) {
    for (int i = 0; i < ITEMS; i++)
        put(arg, i);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, &queue);
    for (int i = 0; i < ITEMS; i++)
        assert(take(&queue) == i);
    pthread_join(thread, NULL);
    return 0;
}

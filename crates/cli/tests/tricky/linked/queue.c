#include "queue.h"

#include <stdlib.h>

struct queue shared_queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER };

static unsigned next(unsigned position) {
    return (position + 1) % (QUEUE_SIZE + 1);
}

struct queue *queue_new(void) {
    struct queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        abort();
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->not_empty, NULL);
    return queue;
}

void queue_put(struct queue *queue, int item) {
    pthread_mutex_lock(&queue->lock);
    queue->items[queue->tail % QUEUE_SIZE] = item;
    queue->tail = next(queue->tail);
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

int queue_get(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (queue->head == queue->tail)
        pthread_cond_wait(&queue->not_empty, &queue->lock);
    int item = queue->items[queue->head % QUEUE_SIZE];
    queue->head = next(queue->head);
    pthread_mutex_unlock(&queue->lock);
    return item;
}

void queue_free(struct queue *queue) {
    pthread_cond_destroy(&queue->not_empty);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

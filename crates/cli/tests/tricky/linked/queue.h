#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>

#define QUEUE_SIZE 2

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    int items[QUEUE_SIZE];
    unsigned head, tail;
};

extern struct queue shared_queue;

struct queue *queue_new(void);
void queue_put(struct queue *queue, int item);
int queue_get(struct queue *queue);
void queue_free(struct queue *queue);

#endif

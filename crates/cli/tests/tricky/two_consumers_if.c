// As two_consumers.c, but with signal, and with if instead of while: a consumer that was woken finds that the other one
// was faster and takes what is not there.
// Expected --check assert: FALSE (unreach-call)
// Expected --check race,memory: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool full;
    int item;
};

static struct queue queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
static int received[2];

static void put(struct queue *q, int item) {
    pthread_mutex_lock(&q->lock);
    if (q->full)
        pthread_cond_wait(&q->changed, &q->lock);
    q->item = item;
    q->full = true;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static int get(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    if (!q->full)
        pthread_cond_wait(&q->changed, &q->lock);
    assert(q->full);
    int item = q->item;
    q->full = false;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return item;
}

static void *consumer(void *arg) {
    int *place = arg;
    *place = get(&queue);
    return NULL;
}

int main(void) {
    pthread_t consumers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&consumers[i], NULL, consumer, &received[i]);
    put(&queue, 3);
    put(&queue, 4);
    for (int i = 0; i < 2; i++)
        pthread_join(consumers[i], NULL);
    assert(received[0] + received[1] == 7);
    return 0;
}

// Producers and consumers share a ring buffer of two slots, with two condition variables.
// Every item is consumed once, and the counts agree with the contents.
// Expected: TRUE
//@ check assert, deadlock
#include <assert.h>
#include <pthread.h>

#define SIZE 2
#define PRODUCERS 2
#define ITEMS 2

typedef struct {
    int slots[SIZE];
    int head;
    int tail;
    int count;
    pthread_mutex_t lock;
    pthread_cond_t not_full;
    pthread_cond_t not_empty;
} buffer_t;

static buffer_t buffer = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
};

static int produced = 0;
static int consumed = 0;

static void put(int item) {
    pthread_mutex_lock(&buffer.lock);
    while (buffer.count == SIZE)
        pthread_cond_wait(&buffer.not_full, &buffer.lock);
    assert(buffer.count < SIZE);
    buffer.slots[buffer.tail] = item;
    buffer.tail = (buffer.tail + 1) % SIZE;
    buffer.count++;
    produced += item;
    pthread_cond_signal(&buffer.not_empty);
    pthread_mutex_unlock(&buffer.lock);
}

static int get(void) {
    pthread_mutex_lock(&buffer.lock);
    while (buffer.count == 0)
        pthread_cond_wait(&buffer.not_empty, &buffer.lock);
    int item = buffer.slots[buffer.head];
    buffer.slots[buffer.head] = 0;
    buffer.head = (buffer.head + 1) % SIZE;
    buffer.count--;
    consumed += item;
    pthread_cond_broadcast(&buffer.not_full);
    pthread_mutex_unlock(&buffer.lock);
    return item;
}

static void *producer(void *arg) {
    for (int i = 0; i < ITEMS; i++)
        put(1 + i);
    return NULL;
}

static void *consumer(void *arg) {
    int sum = 0;
    for (int i = 0; i < PRODUCERS * ITEMS; i++) {
        int item = get();
        assert(item == 1 || item == 2);
        sum += item;
    }
    assert(sum == PRODUCERS * 3);
    return NULL;
}

int main(void) {
    pthread_t producers[PRODUCERS];
    pthread_t reader;
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&producers[i], NULL, producer, NULL);
    pthread_create(&reader, NULL, consumer, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    pthread_join(reader, NULL);
    assert(produced == consumed);
    assert(buffer.count == 0);
    return 0;
}

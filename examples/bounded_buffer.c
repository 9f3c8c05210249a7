// A buffer of two places between a producer and a consumer, with condition variables.
// Expected: TRUE
//@ check assert, deadlock, memory
//@ ltl bounded: G (0 <= count && count <= 2)
#include <assert.h>
#include <pthread.h>

#define SIZE 2
#define ITEMS 4

int buffer[SIZE];
int count, in, out;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;

void put(int item) {
    pthread_mutex_lock(&lock);
    while (count == SIZE)
        pthread_cond_wait(&not_full, &lock);
    buffer[in] = item;
    in = (in + 1) % SIZE;
    count++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

int get(void) {
    pthread_mutex_lock(&lock);
    while (count == 0)
        pthread_cond_wait(&not_empty, &lock);
    int item = buffer[out];
    out = (out + 1) % SIZE;
    count--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return item;
}

void *producer(void *arg) {
    for (int i = 1; i <= ITEMS; i++)
        put(i);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 1; i <= ITEMS; i++)
        assert(get() == i);
    pthread_join(thread, NULL);
    return 0;
}

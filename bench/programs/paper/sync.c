// Sync: a producer and a consumer with room for one thing, and a condition variable for each of them.
//@ ltl psi1: G !call(reach_error)
//@ ltl psi2: G(num == 0 || num == 1)
// Expected psi1: TRUE
// Expected psi2: TRUE
#include <pthread.h>

extern void reach_error(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t empty = PTHREAD_COND_INITIALIZER;
pthread_cond_t full = PTHREAD_COND_INITIALIZER;
int num;
int produced, consumed;

void *producer(void *arg) {
    int round;
    for (round = 0; round < 3; round++) {
        pthread_mutex_lock(&lock);
        while (num > 0)
            pthread_cond_wait(&empty, &lock);
        num = num + 1;
        produced = produced + 1;
        pthread_cond_signal(&full);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

void *consumer(void *arg) {
    int round;
    for (round = 0; round < 3; round++) {
        pthread_mutex_lock(&lock);
        while (num == 0)
            pthread_cond_wait(&full, &lock);
        num = num - 1;
        consumed = consumed + 1;
        pthread_cond_signal(&empty);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, producer, NULL);
    pthread_create(&two, NULL, consumer, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    if (num != 0)
        reach_error();
    return 0;
}

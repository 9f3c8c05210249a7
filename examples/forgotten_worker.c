// Two workers take two locks in opposite orders. When they block each other, the clock still ticks: no deadlock of
// the whole program, but two threads that never move again.
// Expected: FALSE (no-partial-deadlock)
//@ check deadlock, partial-deadlock
#include <pthread.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
_Atomic unsigned char ticks;

void *left(void *arg) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return NULL;
}

void *right(void *arg) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, left, NULL);
    pthread_create(&second, NULL, right, NULL);
    while (1) {
        ticks ^= 1;
    }
}

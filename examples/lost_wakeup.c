// The consumer looks at the flag without the lock: the signal can come before the wait, and is lost.
// Expected: FALSE (no-deadlock)
//@ check deadlock
#include <pthread.h>

int ready;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t wakeup = PTHREAD_COND_INITIALIZER;

void *consumer(void *arg) {
    if (!ready) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&wakeup, &lock);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, consumer, NULL);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&wakeup);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}

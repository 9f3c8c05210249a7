// Seventy threads come and go, one after the other. Then two more meet at a barrier, and one waits for the other's word
// with a condition variable, without asking whether it was said already: the word gets lost, and the listener waits forever.
// Expected --check deadlock: FALSE (no-deadlock)
// Expected --check assert: TRUE
#include <assert.h>
#include <pthread.h>

static int n_done;
static pthread_barrier_t meeting;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t said = PTHREAD_COND_INITIALIZER;
static int word;

static void *short_life(void *arg) {
    n_done++;
    return arg;
}

static void *speaker(void *arg) {
    pthread_barrier_wait(&meeting);
    pthread_mutex_lock(&lock);
    word = 1;
    pthread_cond_signal(&said);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *listener(void *arg) {
    pthread_barrier_wait(&meeting);
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&said, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_barrier_init(&meeting, 0, 2);
    for (int i = 0; i < 70; i++) {
        pthread_create(&one, 0, short_life, 0);
        pthread_join(one, 0);
    }
    assert(n_done == 70);
    pthread_create(&one, 0, speaker, 0);
    pthread_create(&other, 0, listener, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}

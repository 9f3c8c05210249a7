// Threads wait behind a gate; a broadcast lets all of them through.
// Expected: TRUE
//@ check assert, deadlock
//@ ltl opened: F end
//@ ltl waits: G (waiting(runner, opened) -> F !waiting(runner, opened))
#include <assert.h>
#include <pthread.h>

#define RUNNERS 2

int open_, through;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t opened = PTHREAD_COND_INITIALIZER;

void *runner(void *arg) {
    pthread_mutex_lock(&lock);
    while (!open_)
        pthread_cond_wait(&opened, &lock);
    through++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[RUNNERS];
    for (int i = 0; i < RUNNERS; i++)
        pthread_create(&threads[i], NULL, runner, NULL);
    pthread_mutex_lock(&lock);
    open_ = 1;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < RUNNERS; i++)
        pthread_join(threads[i], NULL);
    assert(through == RUNNERS);
    return 0;
}

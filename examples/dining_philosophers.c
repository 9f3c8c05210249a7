// Three philosophers who all take the left fork first can starve together.
// Expected: FALSE (no-deadlock)
//@ check deadlock
#include <pthread.h>

#define N 3

pthread_mutex_t fork_[N];
int meals;

void *philosopher(void *arg) {
    int me = (int)(long)arg;
    pthread_mutex_lock(&fork_[me]);
    pthread_mutex_lock(&fork_[(me + 1) % N]);
    meals++;
    pthread_mutex_unlock(&fork_[(me + 1) % N]);
    pthread_mutex_unlock(&fork_[me]);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_mutex_init(&fork_[i], NULL);
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, philosopher, (void *)i);
    for (long i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

// The philosophers of dining_philosophers.c, each taking the fork with the smaller number first.
// Expected: TRUE
//@ check deadlock, locks, memory
#include <pthread.h>

#define N 3

pthread_mutex_t fork_[N];
int meals;

void *philosopher(void *arg) {
    int me = (int)(long)arg;
    int next = (me + 1) % N;
    int first = me < next ? me : next;
    int second = me < next ? next : me;
    pthread_mutex_lock(&fork_[first]);
    pthread_mutex_lock(&fork_[second]);
    meals++;
    pthread_mutex_unlock(&fork_[second]);
    pthread_mutex_unlock(&fork_[first]);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, philosopher, (void *)i);
    for (long i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

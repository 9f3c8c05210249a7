// The classic: every thread gets the address of the loop variable, and main counts it up meanwhile.
// Expected --check race: FALSE (no-data-race)
// Expected --check assert: FALSE (unreach-call)
#include <assert.h>
#include <pthread.h>

static int done[2];

static void *worker(void *arg) {
    int index = *(int *)arg;
    if (index < 2)
        done[index] = 1;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int i;
    for (i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &i);
    for (int j = 0; j < 2; j++)
        pthread_join(threads[j], NULL);
    assert(done[0] == 1);
    return 0;
}

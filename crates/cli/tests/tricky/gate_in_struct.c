// A gate on the heap: a mutex, a condition variable and a flag in one struct, used through pointers.
// The waiter tests the flag under the mutex in a loop, so no wake-up can get lost, and the value is there when it goes on.
// Expected --check assert,deadlock,race,memory,locks: TRUE
// Expected --check assert,deadlock,race,memory,locks --spurious-wakeups: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
    int value;
} gate_t;

static gate_t *gate_new(void) {
    gate_t *gate = calloc(1, sizeof(gate_t));
    if (!gate)
        abort();
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->opened, NULL);
    return gate;
}

static void gate_open(gate_t *gate, int value) {
    pthread_mutex_lock(&gate->lock);
    gate->value = value;
    gate->open = true;
    pthread_cond_broadcast(&gate->opened);
    pthread_mutex_unlock(&gate->lock);
}

static int gate_pass(gate_t *gate) {
    pthread_mutex_lock(&gate->lock);
    while (!gate->open)
        pthread_cond_wait(&gate->opened, &gate->lock);
    int value = gate->value;
    pthread_mutex_unlock(&gate->lock);
    return value;
}

static void *passer(void *arg) {
    gate_t *gate = arg;
    assert(gate_pass(gate) == 7);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    gate_t *gate = gate_new();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, passer, gate);
    gate_open(gate, 7);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&gate->opened);
    pthread_mutex_destroy(&gate->lock);
    free(gate);
    return 0;
}

// The right twin of uninitialised_field.c: the block comes from calloc, and every field is 0.
// Expected --check assert,deadlock,race,memory,uninitialized,leak: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct task {
    int cancelled;
    int result;
};

static void *run(void *arg) {
    struct task *task = arg;
    if (!task->cancelled)
        task->result = 1;
    return NULL;
}

int main(void) {
    struct task *task = calloc(1, sizeof *task);
    if (!task)
        return 1;
    task->result = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, run, task);
    pthread_join(thread, NULL);
    assert(task->result == 1);
    free(task);
    return 0;
}

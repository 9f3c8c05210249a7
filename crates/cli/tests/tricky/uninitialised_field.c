// The flag of a block from malloc is read before anybody wrote it: it may be set.
// Expected --check uninitialized: FALSE (no-uninitialized)
// Expected --check assert: FALSE (unreach-call)
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
    struct task *task = malloc(sizeof *task);
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

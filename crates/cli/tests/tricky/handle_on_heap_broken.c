// As handle_on_heap.c, but the result is read before the join: the worker may be writing it, or not have begun.
// Expected --check race: FALSE (no-data-race)
// Expected --check assert: FALSE (unreach-call)
// Expected --check memory,locks: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct job {
    pthread_t thread;
    int input;
    int output;
};

static void *square(void *arg) {
    struct job *job = arg;
    job->output = job->input * job->input;
    return NULL;
}

int main(void) {
    struct job *job = malloc(sizeof *job);
    if (job == NULL)
        return 1;
    job->input = 3;
    job->output = 0;
    pthread_create(&job->thread, NULL, square, job);
    int result = job->output;
    pthread_join(job->thread, NULL);
    free(job);
    assert(result == 9);
    return 0;
}

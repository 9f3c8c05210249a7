// The handle and the result of a worker live in one heap block that main allocates and frees after the join.
// The join orders the worker's write before main's read and before free, so nothing is wrong.
// Expected --check assert,deadlock,race,memory,locks: TRUE
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

static struct job *job_start(int input) {
    struct job *job = malloc(sizeof *job);
    if (job == NULL)
        abort();
    job->input = input;
    job->output = 0;
    pthread_create(&job->thread, NULL, square, job);
    return job;
}

static int job_finish(struct job *job) {
    pthread_join(job->thread, NULL);
    int output = job->output;
    free(job);
    return output;
}

int main(void) {
    struct job *first = job_start(3);
    struct job *second = job_start(4);
    assert(job_finish(second) == 16);
    assert(job_finish(first) == 9);
    return 0;
}

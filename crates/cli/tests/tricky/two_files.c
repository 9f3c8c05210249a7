// A program of two files and a header: the queue lives in linked/queue.c, which has a static function of the same name
// as one here. One message goes through a queue on the heap, the answer through a global one.
// Expected linked/queue.c --check assert,deadlock,race,memory,locks,leak: TRUE
// Expected linked/queue.c --ltl 'F "shared_queue.head != shared_queue.tail"' --fair weak: TRUE
// Expected linked/queue.c --ltl 'G "shared_queue.head == shared_queue.tail"': FALSE (valid-ltl)
#include "linked/queue.h"

#include <assert.h>

static int next(int number) {
    return number + 1;
}

static void *answer(void *arg) {
    struct queue *questions = arg;
    queue_put(&shared_queue, next(queue_get(questions)));
    return NULL;
}

int main(void) {
    struct queue *questions = queue_new();
    pthread_t thread;
    pthread_create(&thread, NULL, answer, questions);
    queue_put(questions, 41);
    assert(queue_get(&shared_queue) == 42);
    pthread_join(thread, NULL);
    queue_free(questions);
    return 0;
}

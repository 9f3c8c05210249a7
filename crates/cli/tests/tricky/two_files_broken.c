// Two files as in two_files.c, but main looks into the queue of linked/queue.c without its lock.
// Expected linked/queue.c --check race: FALSE (no-data-race)
// Expected linked/queue.c --check assert,deadlock,memory,locks: TRUE
#include "linked/queue.h"

#include <assert.h>

static void *answer(void *arg) {
    queue_put(arg, 1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, answer, &shared_queue);
    while (shared_queue.head == shared_queue.tail)
        ;
    assert(queue_get(&shared_queue) == 1);
    pthread_join(thread, NULL);
    return 0;
}

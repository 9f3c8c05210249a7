// A binary semaphore as a mutex, in a struct with what it protects, and a second one to wait for both workers.
// Expected --check assert,deadlock,race,memory: TRUE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

struct box {
    sem_t free;
    sem_t done;
    int content;
};

static struct box box;

static void *filler(void *arg) {
    struct box *b = arg;
    sem_wait(&b->free);
    b->content++;
    sem_post(&b->free);
    sem_post(&b->done);
    return NULL;
}

int main(void) {
    pthread_t thread;
    sem_init(&box.free, 0, 1);
    sem_init(&box.done, 0, 0);
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, filler, &box);
        pthread_detach(thread);
    }
    sem_wait(&box.done);
    sem_wait(&box.done);
    assert(box.content == 2);
    return 0;
}

// As reader_preference.c, but a door in front that readers and the writer go through: a writer that waits keeps it, and
// no reader comes in any more. Under strong fairness the writer gets its turn; under weak fairness it may lose every race
// for the door.
// Expected --check assert,deadlock: TRUE
// Expected --ltl 'F (book.edition == 1)' --fair strong: TRUE
// Expected --ltl 'F (book.edition == 1)' --fair weak: FALSE (valid-ltl)
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static struct {
    pthread_mutex_t door;
    pthread_mutex_t entry;
    sem_t room;
    int readers;
    int edition;
} book = { .door = PTHREAD_MUTEX_INITIALIZER, .entry = PTHREAD_MUTEX_INITIALIZER };

static void *reader(void *unused) {
    for (;;) {
        pthread_mutex_lock(&book.door);
        pthread_mutex_unlock(&book.door);
        pthread_mutex_lock(&book.entry);
        if (++book.readers == 1)
            sem_wait(&book.room);
        pthread_mutex_unlock(&book.entry);

        assert(book.edition >= 0);

        pthread_mutex_lock(&book.entry);
        if (--book.readers == 0)
            sem_post(&book.room);
        pthread_mutex_unlock(&book.entry);
    }
    return unused;
}

static void *writer(void *unused) {
    pthread_mutex_lock(&book.door);
    sem_wait(&book.room);
    book.edition = -1;
    book.edition = 1;
    sem_post(&book.room);
    pthread_mutex_unlock(&book.door);
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&book.room, 0, 1);
    pthread_create(&thread, NULL, reader, NULL);
    pthread_create(&thread, NULL, reader, NULL);
    pthread_create(&thread, NULL, writer, NULL);
    pthread_join(thread, NULL);
    for (;;)
        ;
}

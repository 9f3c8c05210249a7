// Readers and writers with preference for readers: the first reader locks the room, the last one frees it. Two readers
// that come again and again can keep the writer out forever, under any fairness of the scheduler, since the room is
// never free. Data is safe all the same.
// Expected --check assert,deadlock: TRUE
// Expected --ltl 'F (book.edition == 1)' --fair weak: FALSE (valid-ltl)
// Expected --ltl 'F (book.edition == 1)' --fair strong: FALSE (valid-ltl)
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static struct {
    pthread_mutex_t entry;
    sem_t room;
    int readers;
    int edition;
} book = { .entry = PTHREAD_MUTEX_INITIALIZER };

static void *reader(void *unused) {
    for (;;) {
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
    sem_wait(&book.room);
    book.edition = -1;
    book.edition = 1;
    sem_post(&book.room);
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

// Readers and writers, written with one mutex and one condition variable: many readers or one writer.
// A reader sees both halves of the record as one writer left them.
// Expected: TRUE
//@ check assert, deadlock
#include <assert.h>
#include <pthread.h>

#define READERS 2
#define WRITERS 2
#define ROUNDS 1

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int n_readers = 0;
static int n_writers = 0;

static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;
static int left = 0;
static int right = 0;

static void begin_read(void) {
    pthread_mutex_lock(&gate);
    while (n_writers > 0)
        pthread_cond_wait(&changed, &gate);
    n_readers++;
    pthread_mutex_unlock(&gate);
}

static void end_read(void) {
    pthread_mutex_lock(&gate);
    n_readers--;
    assert(n_readers >= 0);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&gate);
}

static void begin_write(void) {
    pthread_mutex_lock(&gate);
    while (n_readers > 0 || n_writers > 0)
        pthread_cond_wait(&changed, &gate);
    n_writers++;
    pthread_mutex_unlock(&gate);
}

static void end_write(void) {
    pthread_mutex_lock(&gate);
    n_writers--;
    assert(n_writers == 0);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&gate);
}

static void *reader(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        begin_read();
        pthread_mutex_lock(&record_lock);
        int l = left;
        int r = right;
        pthread_mutex_unlock(&record_lock);
        end_read();
        assert(l == r);
    }
    return NULL;
}

static void *writer(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        begin_write();
        pthread_mutex_lock(&record_lock);
        left = left + 1;
        pthread_mutex_unlock(&record_lock);
        pthread_mutex_lock(&record_lock);
        right = right + 1;
        pthread_mutex_unlock(&record_lock);
        end_write();
    }
    return NULL;
}

int main(void) {
    pthread_t readers[READERS], writers[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&writers[i], NULL, writer, NULL);
    for (int i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, reader, NULL);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    assert(left == WRITERS * ROUNDS);
    assert(n_readers == 0 && n_writers == 0);
    return 0;
}

// As main_locks_too.c, but main joins the workers while it holds the lock that they wait for.
// Expected --check deadlock: FALSE (no-deadlock)
// Expected --check assert,race,locks: TRUE
// Expected --check termination --fair strong: FALSE (termination)
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static int table[2];
static int seen;

static void *reader(void *arg) {
    int index = (int)(long)arg;
    pthread_mutex_lock(&table_lock);
    seen += table[index];
    pthread_mutex_unlock(&table_lock);
    return 0;
}

int main(void) {
    pthread_t readers[2];
    pthread_mutex_lock(&table_lock);
    for (long i = 0; i < 2; i++)
        pthread_create(&readers[i], 0, reader, (void *)i);
    table[0] = 5;
    table[1] = 6;
    for (int i = 0; i < 2; i++)
        pthread_join(readers[i], 0);
    pthread_mutex_unlock(&table_lock);
    assert(seen == 11);
    return 0;
}

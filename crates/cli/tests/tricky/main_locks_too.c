// main holds the lock while it creates the workers, changes the shared table, and lets them in afterwards.
// It gives the lock up before it joins.
// Expected --check assert,deadlock,race,locks: TRUE
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
    pthread_mutex_unlock(&table_lock);
    for (int i = 0; i < 2; i++)
        pthread_join(readers[i], 0);
    assert(seen == 11);
    return 0;
}

// A pool of two connections: clients take one, use it, and give it back; who finds none waits.
// No connection has two users, and all are back in the end.
// Expected: TRUE
//@ check assert, deadlock
#include <assert.h>
#include <pthread.h>

#define CONNECTIONS 2
#define CLIENTS 3

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static int in_use[CONNECTIONS];
static int n_free = CONNECTIONS;

static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_requests = 0;
static int n_bytes = 0;

static int acquire(void) {
    int found = -1;
    pthread_mutex_lock(&pool_lock);
    while (n_free == 0)
        pthread_cond_wait(&given_back, &pool_lock);
    for (int i = 0; i < CONNECTIONS; i++)
        if (found < 0 && !in_use[i])
            found = i;
    assert(found >= 0);
    in_use[found] = 1;
    n_free--;
    pthread_mutex_unlock(&pool_lock);
    return found;
}

static void release(int connection) {
    pthread_mutex_lock(&pool_lock);
    assert(in_use[connection] == 1);
    in_use[connection] = 0;
    n_free++;
    pthread_cond_signal(&given_back);
    pthread_mutex_unlock(&pool_lock);
}

static void count(int bytes) {
    pthread_mutex_lock(&stats_lock);
    n_requests++;
    n_bytes += bytes;
    pthread_mutex_unlock(&stats_lock);
}

static void *client(void *arg) {
    int bytes = 0;
    int connection = acquire();
    bytes = bytes + 10;
    bytes = bytes + connection;
    bytes = bytes - connection;
    release(connection);
    count(bytes);
    return NULL;
}

int main(void) {
    pthread_t clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    assert(n_free == CONNECTIONS);
    assert(n_requests == CLIENTS);
    assert(n_bytes == 10 * CLIENTS);
    return 0;
}

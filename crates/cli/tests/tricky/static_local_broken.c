// As static_local.c with a plain static local: there is one for all threads, and two clients can get the same number.
// Expected --check race: FALSE (no-data-race)
// Expected --check assert: FALSE (unreach-call)
// Expected --check deadlock: TRUE
#include <assert.h>
#include <pthread.h>

static int next_id(void) {
    static int last;
    return ++last;
}

static int ids[2];

static void *client(void *arg) {
    *(int *)arg = next_id();
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, client, &ids[0]);
    pthread_create(&b, NULL, client, &ids[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(ids[0] != ids[1]);
    return 0;
}

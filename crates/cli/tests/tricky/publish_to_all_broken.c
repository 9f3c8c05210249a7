// The twin of publish_to_all.c: the data is written once more after it was published.
// Expected --check race: FALSE (no-data-race)
#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);

static int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t published = PTHREAD_COND_INITIALIZER;
static int data;

static void *reader(void *arg) {
    pthread_mutex_lock(&lock);
    while (!ready) {
        pthread_cond_wait(&published, &lock);
    }
    pthread_mutex_unlock(&lock);
    return data ? arg : NULL;
}

int main(void) {
    int n = __VERIFIER_nondet_int();
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, reader, NULL);
    }
    data = __VERIFIER_nondet_int();
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_broadcast(&published);
    pthread_mutex_unlock(&lock);
    data = 0;
    return 0;
}

// An error code in the style of errno, one for each thread: nobody sees the error of another thread.
// Expected --check assert,deadlock,race: TRUE
#include <assert.h>
#include <pthread.h>

static _Thread_local int last_error;

static int store_positive(int *place, int value) {
    if (value <= 0) {
        last_error = 22;
        return -1;
    }
    *place = value;
    last_error = 0;
    return 0;
}

static void *good(void *unused) {
    int place;
    assert(store_positive(&place, 1) == 0);
    assert(last_error == 0);
    return unused;
}

static void *bad(void *unused) {
    int place = 0;
    assert(store_positive(&place, -1) == -1);
    assert(last_error == 22);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, good, NULL);
    pthread_create(&b, NULL, bad, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(last_error == 0);
    return 0;
}

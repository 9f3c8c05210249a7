// The thread detaches itself, and main joins it all the same: undefined, whichever comes first.
// Expected --check locks: FALSE (valid-locks)
#include <pthread.h>

static void *background(void *unused) {
    pthread_detach(pthread_self());
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, background, NULL);
    pthread_join(thread, NULL);
    return 0;
}

// Returning from main ends every thread, whatever it still had to do.
// Expected: FALSE (valid-ltl)
// Expected with --fair strong: FALSE (valid-ltl)
//@ ltl saved: G (started == 1 -> F saved == 1)
#include <pthread.h>

int started, saved;

void *writer(void *arg) {
    started = 1;
    saved = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    return 0;
}

// Both the worker and main think that they own the buffer, and both free it.
// Expected --check memory: FALSE (valid-deref)
#include <pthread.h>
#include <stdlib.h>

static void *consume(void *buffer) {
    free(buffer);
    return NULL;
}

int main(void) {
    char *buffer = malloc(8);
    pthread_t worker;
    pthread_create(&worker, NULL, consume, buffer);
    pthread_join(worker, NULL);
    free(buffer);
    return 0;
}

// The worker forgets its buffer on the way out.
// Expected --check leak: FALSE (valid-memcleanup)
// Expected --check assert,deadlock,race,memory: TRUE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int sum;

static void *worker(void *arg) {
    unsigned char *buffer = malloc(4);
    if (buffer == NULL)
        return NULL;
    memset(buffer, *(int *)arg, 4);
    if (buffer[0] == 0)
        return NULL;
    sum = buffer[0] + buffer[3];
    free(buffer);
    return NULL;
}

int main(void) {
    int value = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, worker, &value);
    pthread_join(thread, NULL);
    return 0;
}

// The right twin of leak_in_thread.c: the buffer is freed on both ways out.
// Expected --check assert,deadlock,race,memory,leak: TRUE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int sum;

static void *worker(void *arg) {
    unsigned char *buffer = malloc(4);
    if (buffer == NULL)
        return NULL;
    memset(buffer, *(int *)arg, 4);
    if (buffer[0] == 0) {
        free(buffer);
        return NULL;
    }
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

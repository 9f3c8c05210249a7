// A thread reads a message while another one may have freed it already.
// Expected: FALSE (valid-deref)
//@ check memory
#include <pthread.h>
#include <stdlib.h>

struct message {
    int kind;
    int body;
};

struct message *current;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int seen;

void *reader(void *arg) {
    pthread_mutex_lock(&lock);
    struct message *message = current;
    pthread_mutex_unlock(&lock);
    if (message != NULL)
        seen = message->body;
    return NULL;
}

void *cleaner(void *arg) {
    pthread_mutex_lock(&lock);
    struct message *message = current;
    current = NULL;
    pthread_mutex_unlock(&lock);
    free(message);
    return NULL;
}

int main(void) {
    current = malloc(sizeof *current);
    current->kind = 1;
    current->body = 42;
    pthread_t first, second;
    pthread_create(&first, NULL, reader, NULL);
    pthread_create(&second, NULL, cleaner, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}

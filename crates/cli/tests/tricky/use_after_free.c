// The reader uses a message that main frees without waiting for it.
// Expected --check memory: FALSE (valid-deref)
// Expected --check race: FALSE (no-data-race)
// Expected --check deadlock,locks: UNKNOWN (undefined behaviour: pointer to an object that is gone)
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct message {
    int length;
    char text[4];
};

static void *print(void *arg) {
    const struct message *message = arg;
    for (int i = 0; i < message->length; i++)
        putchar(message->text[i]);
    return NULL;
}

int main(void) {
    struct message *message = malloc(sizeof *message);
    if (message == NULL)
        return 1;
    message->length = 2;
    message->text[0] = 'o';
    message->text[1] = 'k';
    pthread_t printer;
    pthread_create(&printer, NULL, print, message);
    free(message);
    pthread_join(printer, NULL);
    return 0;
}

// The right twin of use_after_free.c: main frees the message after the join.
// Expected --check assert,deadlock,race,memory,locks: TRUE
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
    pthread_join(printer, NULL);
    free(message);
    return 0;
}

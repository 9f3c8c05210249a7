// As mailbox_exchange.c, but the message that was replaced is forgotten.
// Expected --check leak: FALSE (valid-memcleanup)
// Expected --check assert,deadlock,race,memory: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct message {
    int value;
};

static struct message *_Atomic mailbox;

static void *post(void *arg) {
    struct message *message = malloc(sizeof *message);
    if (message == NULL)
        abort();
    message->value = *(int *)arg;
    atomic_exchange(&mailbox, message);
    return NULL;
}

int main(void) {
    int one = 1, two = 2;
    pthread_t a, b;
    pthread_create(&a, NULL, post, &one);
    pthread_create(&b, NULL, post, &two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    struct message *latest = atomic_load(&mailbox);
    assert(latest->value == 1 || latest->value == 2);
    free(latest);
    return 0;
}

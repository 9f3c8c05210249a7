// The user of a connection looks whether it is there and then uses it; in between it can be closed and freed.
// The pointer itself is read and written without a lock, too.
// Expected --check memory: FALSE (valid-deref)
// Expected --check race: FALSE (no-data-race)
#include <pthread.h>
#include <stdlib.h>

struct connection {
    int last_error;
};

static struct connection *current;

static void *closer(void *unused) {
    struct connection *connection = current;
    current = NULL;
    free(connection);
    return unused;
}

static void *user(void *unused) {
    if (current != NULL)
        current->last_error = 0;
    return unused;
}

int main(void) {
    current = malloc(sizeof *current);
    if (current == NULL)
        return 1;
    current->last_error = -1;
    pthread_t a, b;
    pthread_create(&a, NULL, closer, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

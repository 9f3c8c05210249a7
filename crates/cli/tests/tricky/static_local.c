// Identifiers from a static local of a function: an atomic counter gives each caller its own number.
// Expected --check assert,deadlock,race: TRUE
// Expected --ltl 'G (next_id::last <= 2)': TRUE
// Expected --ltl 'F (next_id::last == 2)' --fair weak: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int next_id(void) {
    static atomic_int last;
    return ++last;
}

static int ids[2];

static void *client(void *arg) {
    *(int *)arg = next_id();
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, client, &ids[0]);
    pthread_create(&b, NULL, client, &ids[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(ids[0] != ids[1]);
    return 0;
}

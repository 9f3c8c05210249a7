// As buffer_as_storage.c, but both threads get the same record.
// Expected --check race: FALSE (no-data-race)
// Expected --check deadlock,memory,leak: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct record {
    short kind;
    short value;
};

static unsigned char *arena;

static struct record *record_at(int index) {
    return (struct record *)(arena + index * sizeof(struct record));
}

static void *fill(void *arg) {
    struct record *record = arg;
    record->kind = 1;
    record->value = 5;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    arena = malloc(2 * sizeof(struct record));
    if (arena == NULL)
        return 1;
    memset(arena, 0, 2 * sizeof(struct record));
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, fill, record_at(0));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(record_at(0)->value + record_at(1)->value == 5);
    free(arena);
    return 0;
}

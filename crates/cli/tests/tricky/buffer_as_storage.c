// Records that are put into a buffer of bytes, as an allocator or a message queue does: each thread fills a record of
// its own in one block. The records do not overlap, so nothing is raced.
// Expected --check assert,deadlock,memory,leak: TRUE
// Expected --check race: TRUE
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
        pthread_create(&threads[i], NULL, fill, record_at(i));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(record_at(0)->value + record_at(1)->value == 10);
    free(arena);
    return 0;
}

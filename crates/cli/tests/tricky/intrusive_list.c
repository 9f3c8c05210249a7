// A list whose links are inside of the items, in the style of kernels: from a link to its item by the offset of the
// member. The list is locked while it changes; main empties it after the joins.
// Expected --check assert,deadlock,race,memory,locks,leak,uninitialized: TRUE
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))

struct link {
    struct link *next, *previous;
};

struct item {
    int value;
    struct link link;
};

static struct link head = { &head, &head };
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;

static void list_add(struct link *link) {
    link->next = head.next;
    link->previous = &head;
    head.next->previous = link;
    head.next = link;
}

static void list_remove(struct link *link) {
    link->previous->next = link->next;
    link->next->previous = link->previous;
}

static void *adder(void *arg) {
    struct item *item = malloc(sizeof *item);
    if (item == NULL)
        abort();
    item->value = *(int *)arg;
    pthread_mutex_lock(&list_lock);
    list_add(&item->link);
    pthread_mutex_unlock(&list_lock);
    return NULL;
}

int main(void) {
    int values[2] = { 1, 2 };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, adder, &values[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);

    int sum = 0;
    while (head.next != &head) {
        struct item *item = container_of(head.next, struct item, link);
        sum += item->value;
        list_remove(&item->link);
        free(item);
    }
    assert(sum == 3);
    return 0;
}

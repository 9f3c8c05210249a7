// As intrusive_list.c without the lock: one of the two items can get lost.
// Expected --check race: FALSE (no-data-race)
// Expected --check assert: FALSE (unreach-call)
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
    list_add(&item->link);
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

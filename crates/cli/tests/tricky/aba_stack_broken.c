// A lock-free stack with nodes that are used again. One thread is stopped in pop between its look at head->next and the
// compare-and-swap; the other pops A and B and pushes A back. Head is A again, the swap succeeds and makes B the head,
// though B is in use by the other thread: the owner of B and a later pop have the same node.
// Expected --check assert: FALSE (unreach-call)
// Expected --check deadlock: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int owned;
};

static struct node nodes[2];
static _Atomic(struct node *) head;

static void push(struct node *node) {
    struct node *old = atomic_load(&head);
    do {
        atomic_store(&node->next, old);
    } while (!atomic_compare_exchange_strong(&head, &old, node));
}

static struct node *pop(void) {
    struct node *old = atomic_load(&head);
    while (old != NULL) {
        struct node *next = atomic_load(&old->next);
        if (atomic_compare_exchange_strong(&head, &old, next))
            return old;
    }
    return NULL;
}

static void take(struct node *node) {
    assert(atomic_exchange(&node->owned, 1) == 0);
}

static void *drain(void *unused) {
    for (int i = 0; i < 2; i++) {
        struct node *node = pop();
        if (node != NULL)
            take(node);
    }
    return unused;
}

static void *pop_pop_push(void *unused) {
    struct node *a = pop();
    struct node *b = pop();
    if (b != NULL)
        take(b);
    if (a != NULL)
        push(a);
    return unused;
}

int main(void) {
    pthread_t x, y;
    push(&nodes[1]);
    push(&nodes[0]);
    pthread_create(&x, NULL, drain, NULL);
    pthread_create(&y, NULL, pop_pop_push, NULL);
    pthread_join(x, NULL);
    pthread_join(y, NULL);
    return 0;
}

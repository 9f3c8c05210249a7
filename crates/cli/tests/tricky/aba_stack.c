// The stack of aba_stack_broken.c with a tag: head is an index and a counter in one word, and every swap counts up.
// A head that came back has another tag, so the late swap fails.
// Expected --check assert,deadlock,race,memory: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define EMPTY 0u
#define INDEX(word) ((word) & 0xffu)
#define TAGGED(word, index) ((((word) >> 8) + 1) << 8 | (index))

struct node {
    atomic_uint next;
    atomic_int owned;
};

/* Node 0 stands for no node. */
static struct node nodes[3];
static atomic_uint head;

static void push(unsigned index) {
    unsigned old = atomic_load(&head);
    do {
        atomic_store(&nodes[index].next, INDEX(old));
    } while (!atomic_compare_exchange_strong(&head, &old, TAGGED(old, index)));
}

static unsigned pop(void) {
    unsigned old = atomic_load(&head);
    while (INDEX(old) != EMPTY) {
        unsigned next = atomic_load(&nodes[INDEX(old)].next);
        if (atomic_compare_exchange_strong(&head, &old, TAGGED(old, next)))
            return INDEX(old);
    }
    return EMPTY;
}

static void take(unsigned index) {
    assert(atomic_exchange(&nodes[index].owned, 1) == 0);
}

static void *drain(void *unused) {
    for (int i = 0; i < 2; i++) {
        unsigned index = pop();
        if (index != EMPTY)
            take(index);
    }
    return unused;
}

static void *pop_pop_push(void *unused) {
    unsigned a = pop();
    unsigned b = pop();
    if (b != EMPTY)
        take(b);
    if (a != EMPTY)
        push(a);
    return unused;
}

int main(void) {
    pthread_t x, y;
    push(2);
    push(1);
    pthread_create(&x, NULL, drain, NULL);
    pthread_create(&y, NULL, pop_pop_push, NULL);
    pthread_join(x, NULL);
    pthread_join(y, NULL);
    return 0;
}

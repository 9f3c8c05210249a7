// Two threads put nodes at the head of a list under a lock: none is lost, and all memory is given back.
// Expected: TRUE
//@ check assert, deadlock, race, memory, leak
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct list {
    struct node *head;
    pthread_mutex_t lock;
};

struct list list = {NULL, PTHREAD_MUTEX_INITIALIZER};

void push(struct list *to, int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    pthread_mutex_lock(&to->lock);
    node->next = to->head;
    to->head = node;
    pthread_mutex_unlock(&to->lock);
}

void *worker(void *arg) {
    push(&list, (int)(long)arg);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, worker, (void *)1);
    pthread_create(&second, NULL, worker, (void *)2);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    int sum = 0;
    while (list.head != NULL) {
        struct node *node = list.head;
        sum += node->value;
        list.head = node->next;
        free(node);
    }
    assert(sum == 3);
    return 0;
}

// A sorted list with a lock in every node. Who walks along takes the next lock before giving back the one it has, so
// nobody can overtake, and a node is unlinked only by who holds it and its predecessor.
// Expected --check assert,deadlock,race,memory,locks,leak: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
    int key;
    struct node *next;
    pthread_mutex_t lock;
};

static struct node *list;

static struct node *node_new(int key, struct node *next) {
    struct node *node = malloc(sizeof *node);
    if (node == NULL)
        abort();
    node->key = key;
    node->next = next;
    pthread_mutex_init(&node->lock, NULL);
    return node;
}

/* Locks the last node with a smaller key, and the one behind it if there is one. */
static struct node *find(int key) {
    struct node *before = list;
    pthread_mutex_lock(&before->lock);
    for (;;) {
        struct node *node = before->next;
        if (node == NULL)
            return before;
        pthread_mutex_lock(&node->lock);
        if (node->key >= key)
            return before;
        pthread_mutex_unlock(&before->lock);
        before = node;
    }
}

static void insert(int key) {
    struct node *before = find(key);
    struct node *behind = before->next;
    before->next = node_new(key, behind);
    if (behind != NULL)
        pthread_mutex_unlock(&behind->lock);
    pthread_mutex_unlock(&before->lock);
}

static void delete(int key) {
    struct node *before = find(key);
    struct node *node = before->next;
    if (node != NULL) {
        if (node->key == key) {
            before->next = node->next;
            pthread_mutex_unlock(&node->lock);
            pthread_mutex_destroy(&node->lock);
            free(node);
        } else {
            pthread_mutex_unlock(&node->lock);
        }
    }
    pthread_mutex_unlock(&before->lock);
}

static void *inserter(void *unused) {
    insert(2);
    return unused;
}

static void *deleter(void *unused) {
    delete(1);
    return unused;
}

int main(void) {
    list = node_new(0, node_new(1, NULL));
    pthread_t a, b;
    pthread_create(&a, NULL, inserter, NULL);
    pthread_create(&b, NULL, deleter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(list->next != NULL && list->next->key == 2 && list->next->next == NULL);
    free(list->next);
    free(list);
    return 0;
}

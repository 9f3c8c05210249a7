// A pipeline of three stages with a mailbox of one item between neighbours, each with its own lock and condition.
// The last stage sees what the first has sent, in order, worked on by the middle one.
// Expected: TRUE
//@ check assert, deadlock
#include <assert.h>
#include <pthread.h>

#define ITEMS 3

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t first_changed = PTHREAD_COND_INITIALIZER;
static int first_full = 0;
static int first_item = 0;

static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t second_changed = PTHREAD_COND_INITIALIZER;
static int second_full = 0;
static int second_item = 0;

static void *source(void *arg) {
    for (int i = 1; i <= ITEMS; i++) {
        int item = i;
        pthread_mutex_lock(&first_lock);
        while (first_full)
            pthread_cond_wait(&first_changed, &first_lock);
        first_item = item;
        first_full = 1;
        pthread_cond_signal(&first_changed);
        pthread_mutex_unlock(&first_lock);
    }
    return NULL;
}

static void *middle(void *arg) {
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&first_lock);
        while (!first_full)
            pthread_cond_wait(&first_changed, &first_lock);
        int item = first_item;
        first_item = 0;
        first_full = 0;
        pthread_cond_signal(&first_changed);
        pthread_mutex_unlock(&first_lock);

        int value = item;
        value = value * 2;
        value = value + 1;

        pthread_mutex_lock(&second_lock);
        while (second_full)
            pthread_cond_wait(&second_changed, &second_lock);
        second_item = value;
        second_full = 1;
        pthread_cond_signal(&second_changed);
        pthread_mutex_unlock(&second_lock);
    }
    return NULL;
}

static void *sink(void *arg) {
    int expected = 3;
    int sum = 0;
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&second_lock);
        while (!second_full)
            pthread_cond_wait(&second_changed, &second_lock);
        int value = second_item;
        second_item = 0;
        second_full = 0;
        pthread_cond_signal(&second_changed);
        pthread_mutex_unlock(&second_lock);
        assert(value == expected);
        expected += 2;
        sum += value;
    }
    assert(sum == 15);
    return NULL;
}

int main(void) {
    pthread_t stages[3];
    pthread_create(&stages[0], NULL, source, NULL);
    pthread_create(&stages[1], NULL, middle, NULL);
    pthread_create(&stages[2], NULL, sink, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(stages[i], NULL);
    assert(!first_full && !second_full);
    return 0;
}

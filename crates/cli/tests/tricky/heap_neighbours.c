// Two threads write different fields of one block, one of them through a pointer to the field, and then different
// elements of an array in it. Fields are memory locations of their own: this is no race and loses nothing.
// Expected --check assert,deadlock,race,memory,leak,uninitialized: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct shared {
    int left;
    short right;
    char cells[2];
};

static void *left_half(void *arg) {
    struct shared *s = arg;
    s->left++;
    s->cells[0] = 'l';
    return NULL;
}

static void *right_half(void *arg) {
    struct shared *s = arg;
    short *right = &s->right;
    *right += 2;
    s->cells[1] = 'r';
    return NULL;
}

int main(void) {
    struct shared *s = malloc(sizeof *s);
    if (s == NULL)
        return 1;
    s->left = s->right = 0;
    pthread_t a, b;
    pthread_create(&a, NULL, left_half, s);
    pthread_create(&b, NULL, right_half, s);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(s->left == 1 && s->right == 2);
    assert(s->cells[0] == 'l' && s->cells[1] == 'r');
    free(s);
    return 0;
}

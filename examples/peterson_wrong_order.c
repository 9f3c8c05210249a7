// Peterson's algorithm with the first two assignments exchanged: the exclusion is gone.
// Expected: FALSE (valid-ltl)
//@ ltl exclusion: G !(inside0 == 1 && inside1 == 1)
#include <pthread.h>

int flag0, flag1, turn;
int inside0, inside1;

void *left(void *arg) {
    turn = 1;
    flag0 = 1;
    while (flag1 && turn == 1)
        ;
    inside0 = 1;
    inside0 = 0;
    flag0 = 0;
    return NULL;
}

void *right(void *arg) {
    turn = 0;
    flag1 = 1;
    while (flag0 && turn == 0)
        ;
    inside1 = 1;
    inside1 = 0;
    flag1 = 0;
    return NULL;
}

int main(void) {
    pthread_t l, r;
    pthread_create(&l, NULL, left, NULL);
    pthread_create(&r, NULL, right, NULL);
    pthread_join(l, NULL);
    pthread_join(r, NULL);
    return 0;
}

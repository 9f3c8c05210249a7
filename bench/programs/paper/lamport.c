// Lamport's fast mutual exclusion: without contention, a thread enters after seven accesses.
//@ ltl psi1: G !call(reach_error)
//@ ltl psi2: G(x == 0 || x == 1)
// Expected psi1: TRUE
// Expected psi2: FALSE
#include <pthread.h>

extern void reach_error(void);

int wants1, wants2; // who wants to enter
int x, y;           // who tried last, and who is at the door
int inside;

void *thread1(void *arg) {
    while (1) {
        wants1 = 1;
        x = 1;
        if (y != 0) {
            wants1 = 0;
            while (y != 0)
                ;
            continue;
        }
        y = 1;
        if (x == 1)
            break;
        wants1 = 0;
        while (wants2 == 1)
            ;
        if (y == 1)
            break;
        while (y != 0)
            ;
    }
    inside = 1;
    if (inside != 1)
        reach_error();
    y = 0;
    wants1 = 0;
    return NULL;
}

void *thread2(void *arg) {
    while (1) {
        wants2 = 1;
        x = 2;
        if (y != 0) {
            wants2 = 0;
            while (y != 0)
                ;
            continue;
        }
        y = 2;
        if (x == 2)
            break;
        wants2 = 0;
        while (wants1 == 1)
            ;
        if (y == 2)
            break;
        while (y != 0)
            ;
    }
    inside = 2;
    if (inside != 2)
        reach_error();
    y = 0;
    wants2 = 0;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, thread1, NULL);
    pthread_create(&two, NULL, thread2, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}

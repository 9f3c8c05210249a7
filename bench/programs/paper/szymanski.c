// Szymanski's algorithm for two threads: a waiting room with a door in and a door out.
//   0 outside, 1 wants in, 2 waits for others, 3 in the doorway, 4 inside and the door is shut
//@ ltl psi1: G !call(reach_error)
//@ ltl psi2: G(flag1 == 0 || flag1 == 1)
// Expected psi1: TRUE
// Expected psi2: FALSE
#include <pthread.h>

extern void reach_error(void);

int flag1, flag2;
int inside;

void *thread1(void *arg) {
    flag1 = 1;
    while (flag2 >= 3)
        ;
    flag1 = 3;
    if (flag2 == 1) {
        flag1 = 2;
        while (flag2 != 4)
            ;
    }
    flag1 = 4;
    // The first thread may go before the second one.
    inside = 1;
    if (inside != 1)
        reach_error();
    while (2 <= flag2 && flag2 <= 3)
        ;
    flag1 = 0;
    return NULL;
}

void *thread2(void *arg) {
    flag2 = 1;
    while (flag1 >= 3)
        ;
    flag2 = 3;
    if (flag1 == 1) {
        flag2 = 2;
        while (flag1 != 4)
            ;
    }
    flag2 = 4;
    while (flag1 >= 2)
        ;
    inside = 2;
    if (inside != 2)
        reach_error();
    flag2 = 0;
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

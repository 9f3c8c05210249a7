// Dekker's algorithm: whose turn it is not, steps back while the other one wants to enter.
//@ ltl psi1: G !call(reach_error)
//@ ltl psi2: G(flag1 == 0 || flag1 == 1)
// Expected psi1: TRUE
// Expected psi2: TRUE
#include <pthread.h>

extern void reach_error(void);

int flag1, flag2, turn;
int inside;

void *thread1(void *arg) {
    flag1 = 1;
    while (flag2 == 1) {
        if (turn != 0) {
            flag1 = 0;
            while (turn != 0)
                ;
            flag1 = 1;
        }
    }
    inside = 1;
    if (inside != 1)
        reach_error();
    turn = 1;
    flag1 = 0;
    return NULL;
}

void *thread2(void *arg) {
    flag2 = 1;
    while (flag1 == 1) {
        if (turn != 1) {
            flag2 = 0;
            while (turn != 1)
                ;
            flag2 = 1;
        }
    }
    inside = 2;
    if (inside != 2)
        reach_error();
    turn = 0;
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

// Fib: two threads add to each other's number, five times each. Only if they take turns all the time, one
// number gets as large as the 12th Fibonacci number.
//@ ltl psi1: G !call(reach_error)
//@ ltl psi2: G(adder1::k < 6)
// Expected psi1: FALSE
// Expected psi2: FALSE
#include <pthread.h>

extern void reach_error(void);

int first = 1, second = 1;

void *adder1(void *arg) {
    int k;
    for (k = 1; k < 6; k++)
        first = first + second;
    return NULL;
}

void *adder2(void *arg) {
    int k;
    for (k = 1; k < 6; k++)
        second = second + first;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, adder1, NULL);
    pthread_create(&two, NULL, adder2, NULL);
    if (first >= 144 || second >= 144)
        reach_error();
    return 0;
}

// What to do when a transfer fails is a pointer: to a function that counts, or to one that ends the process with an
// error. The second transfer fails after the handler has been made strict.
// Expected --check assert: FALSE (unreach-call)
// Expected --ltl 'G !call(reach_error)': FALSE (valid-ltl)
// Expected --ltl 'G !call(abort)': TRUE
// Expected --ltl 'G (call(reach_error) -> failures == 1)': TRUE
// Expected --ltl 'F end' --fair weak: TRUE
#include <pthread.h>
#include <stdlib.h>

extern void reach_error(void);

static int failures;

static void count(void) { failures++; }

static void (*on_failure)(void) = count;

static void transfer(int amount) {
    if (amount > 10)
        on_failure();
}

int main(void) {
    int choice = failures;
    transfer(20);
    on_failure = choice ? abort : reach_error;
    transfer(5);
    transfer(30);
    return 0;
}

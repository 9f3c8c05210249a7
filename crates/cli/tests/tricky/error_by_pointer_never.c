// What to do when a transfer fails is a pointer: to a function that counts, or to one that ends the process with an
// error. No transfer fails after the handler has been made strict.
// Expected --check assert: TRUE
// Expected --ltl 'G !call(reach_error)': TRUE
// Expected --ltl 'G !call(count)': FALSE (valid-ltl)
// Expected --ltl 'F (failures == 1 && end)' --fair weak: TRUE
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
    transfer(3);
    return 0;
}

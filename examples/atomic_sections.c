// Atomic sections in the manner of SV-COMP: money moves between accounts and none is lost.
// Expected: TRUE
//@ check assert
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int account[2] = {5, 5};

void *move_right(void *arg) {
    for (int i = 0; i < 2; i++) {
        __VERIFIER_atomic_begin();
        account[0]--;
        account[1]++;
        __VERIFIER_atomic_end();
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, move_right, NULL);
    __VERIFIER_atomic_begin();
    int sum = account[0] + account[1];
    __VERIFIER_atomic_end();
    assert(sum == 10);
    pthread_join(thread, NULL);
    return 0;
}

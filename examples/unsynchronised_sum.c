// Without the atomic section of atomic_sections.c, the sum can be taken in the middle of a transfer.
// Expected: FALSE (unreach-call)
//@ check assert
#include <assert.h>
#include <pthread.h>

int account[2] = {5, 5};

void *move_right(void *arg) {
    account[0]--;
    account[1]++;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, move_right, NULL);
    int sum = account[0] + account[1];
    assert(sum == 10);
    pthread_join(thread, NULL);
    return 0;
}

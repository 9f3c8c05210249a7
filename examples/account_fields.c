// Money goes from one account to the other: a formula over fields sees the moment in which it is in neither.
// Expected: FALSE (valid-ltl)
//@ ltl none_lost: G(accounts[0].balance + accounts[1].balance == 10)
//@ ltl arrives: F G(accounts[1].balance == 3)
#include <pthread.h>

struct account {
    int balance;
    pthread_mutex_t lock;
};

struct account accounts[2] = {
    {10, PTHREAD_MUTEX_INITIALIZER},
    {0, PTHREAD_MUTEX_INITIALIZER},
};

void *transfer(void *arg) {
    struct account *from = &accounts[0], *to = &accounts[1];
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance -= 3;
    to->balance += 3;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, transfer, NULL);
    pthread_join(thread, NULL);
    return 0;
}

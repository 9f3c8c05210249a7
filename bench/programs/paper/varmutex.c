// Varmutex: one thread takes a block, the other one gives blocks back that are not in use. Which lock protects the
// block depends on a variable: while `busy` is 0, the second thread owns it under the lock of `busy`.
//@ ltl psi1: G !call(reach_error)
//@ ltl psi2: G(block == 0 || block == 1)
// Expected psi1: TRUE
// Expected psi2: TRUE
#include <pthread.h>

extern void reach_error(void);

pthread_mutex_t inode_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t busy_lock = PTHREAD_MUTEX_INITIALIZER;
int block, busy, inode;

void *take(void *arg) {
    pthread_mutex_lock(&inode_lock);
    if (inode == 0) {
        pthread_mutex_lock(&busy_lock);
        busy = 1;
        pthread_mutex_unlock(&busy_lock);
        inode = 1;
    }
    block = 1;
    if (block != 1)
        reach_error();
    pthread_mutex_unlock(&inode_lock);
    return NULL;
}

void *give_back(void *arg) {
    pthread_mutex_lock(&busy_lock);
    if (busy == 0) {
        block = 0;
        if (block != 0)
            reach_error();
    }
    pthread_mutex_unlock(&busy_lock);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    inode = busy;
    pthread_create(&one, NULL, take, NULL);
    pthread_create(&two, NULL, give_back, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}

// Lazy: two threads add to a number under a lock; the third one may look after both.
//@ ltl psi1: G !call(reach_error)
//@ ltl psi2: G(data == 0 || data == 1)
// Expected psi1: FALSE
// Expected psi2: FALSE
#include <pthread.h>

extern void reach_error(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int data;
int looked;

void *one(void *arg) {
    pthread_mutex_lock(&lock);
    data = data + 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

void *two(void *arg) {
    pthread_mutex_lock(&lock);
    data = data + 2;
    pthread_mutex_unlock(&lock);
    return NULL;
}

void *look(void *arg) {
    pthread_mutex_lock(&lock);
    looked = looked + 1;
    if (data >= 3)
        reach_error();
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_create(&c, NULL, look, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}

// Rwlock: a lock for many readers or one writer, made of a mutex and two numbers.
//@ ltl psi1: G !call(reach_error)
//@ ltl psi2: G(w == 0 || w == 1)
// Expected psi1: TRUE
// Expected psi2: TRUE
#include <pthread.h>

extern void reach_error(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int w, r;
int value, copies;

void *writer(void *arg) {
    int in = 0;
    while (!in) {
        pthread_mutex_lock(&lock);
        if (w == 0 && r == 0) {
            w = 1;
            in = 1;
        }
        pthread_mutex_unlock(&lock);
    }
    value = 3;
    value = value + 1;
    pthread_mutex_lock(&lock);
    w = 0;
    pthread_mutex_unlock(&lock);
    return NULL;
}

void *reader(void *arg) {
    int in = 0, one, two;
    while (!in) {
        pthread_mutex_lock(&lock);
        if (w == 0) {
            r = r + 1;
            in = 1;
        }
        pthread_mutex_unlock(&lock);
    }
    one = value;
    two = value;
    copies = copies + 1;
    if (one != two)
        reach_error();
    pthread_mutex_lock(&lock);
    r = r - 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&two, NULL, reader, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}

// Datarace: two threads count under a lock, main looks at the sum. Each also keeps figures of its own that nobody
// looks at.
//@ ltl psi1: G !call(reach_error)
//@ ltl psi2: G(flag1 == 0 || flag1 == 1)
// Expected psi1: TRUE
// Expected psi2: FALSE
#include <pthread.h>

extern void reach_error(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int flag1;
int last_by_one, last_by_two;

void *counter1(void *arg) {
    int round, seen;
    for (round = 0; round < 20; round++) {
        pthread_mutex_lock(&lock);
        seen = flag1;
        last_by_one = seen;
        seen = seen + 1;
        flag1 = seen;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

void *counter2(void *arg) {
    int round, seen;
    for (round = 0; round < 20; round++) {
        pthread_mutex_lock(&lock);
        seen = flag1;
        last_by_two = seen;
        seen = seen + 1;
        flag1 = seen;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, counter1, NULL);
    pthread_create(&two, NULL, counter2, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    if (flag1 != 40)
        reach_error();
    return 0;
}

// errno itself: a failing sem_trywait of one thread does not disturb the errno of another.
// Expected --check assert,deadlock,race: TRUE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t tokens;

static void *taker(void *unused) {
    errno = 0;
    if (sem_trywait(&tokens) == -1)
        assert(errno == EAGAIN);
    else
        assert(errno == 0);
    return unused;
}

int main(void) {
    pthread_t a, b;
    sem_init(&tokens, 0, 1);
    pthread_create(&a, NULL, taker, NULL);
    pthread_create(&b, NULL, taker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

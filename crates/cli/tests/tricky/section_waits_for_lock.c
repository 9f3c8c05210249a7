// The worker waits for the lock inside of its atomic section. Where main has the lock then, main cannot give it back, since nobody moves
// beside the section: neither of them moves again. Main's two steps must not be taken as one, nor the second one first.
// Expected --check deadlock: FALSE (no-deadlock)
// Expected --check deadlock --reduce stubborn --slice off: FALSE (no-deadlock)
// Expected --check deadlock --reduce agglomerate --slice off: FALSE (no-deadlock)
// Expected --check deadlock --reduce none --slice off: FALSE (no-deadlock)
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused) {
    (void)unused;
    __VERIFIER_atomic_begin();
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    __VERIFIER_atomic_end();
    return NULL;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, NULL, worker, NULL);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}

// Ccnf: nine threads in a chain; each one's number depends on the one before. Nothing can be cut.
//@ ltl psi1: G !call(reach_error)
//@ ltl psi2: G(d == 0)
// Expected psi1: FALSE
// Expected psi2: FALSE
#include <pthread.h>

extern void reach_error(void);

int a, b, c, d, e, f, g, h;

void *thread1(void *arg) { a = 1; return NULL; }
void *thread2(void *arg) { b = a; return NULL; }
void *thread3(void *arg) { c = b; return NULL; }
void *thread4(void *arg) { d = c; return NULL; }
void *thread5(void *arg) { e = d; return NULL; }
void *thread6(void *arg) { f = e; return NULL; }
void *thread7(void *arg) { g = f; return NULL; }
void *thread8(void *arg) { h = g; return NULL; }
void *thread9(void *arg) { if (h == 1) reach_error(); return NULL; }

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, thread1, NULL);
    pthread_create(&t, NULL, thread2, NULL);
    pthread_create(&t, NULL, thread3, NULL);
    pthread_create(&t, NULL, thread4, NULL);
    pthread_create(&t, NULL, thread5, NULL);
    pthread_create(&t, NULL, thread6, NULL);
    pthread_create(&t, NULL, thread7, NULL);
    pthread_create(&t, NULL, thread8, NULL);
    pthread_create(&t, NULL, thread9, NULL);
    pthread_exit(NULL);
}

// A server answers every request, if it gets its turn.
// Expected: FALSE (valid-ltl)
// Expected with --fair weak: TRUE
//@ ltl served: G (request == 1 -> F answer == 1)
#include <pthread.h>

int request, answer;

void *server(void *arg) {
    while (1) {
        if (request) {
            answer = 1;
            request = 0;
        }
    }
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, server, NULL);
    while (1) {
        answer = 0;
        request = 1;
        while (request)
            ;
    }
}

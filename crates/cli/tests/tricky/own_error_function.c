// An error function of the program's own, which does nothing: that it is called is the violation, and the run ends
// with the call.
// Expected --check assert: FALSE (unreach-call)
// Expected --ltl 'G !call(reach_error)': FALSE (valid-ltl)
#include <pthread.h>
#include <stdlib.h>

int ready;

void reach_error(void) {}

void *setter(void *arg) {
    ready = 1;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, setter, 0);
    pthread_join(thread, 0);
    if (ready) {
        reach_error();
        abort();
    }
    return 0;
}

// main returns while the logger runs: the process ends, and the message may never be written. This is no deadlock,
// and nothing is raced, since main does not look at what the logger writes.
// Expected --check assert,deadlock,race: TRUE
// Expected --ltl 'F (written == 1)' --fair strong: FALSE (valid-ltl)
// Expected --ltl 'F end' --fair weak: TRUE
// Expected --ltl 'G (terminated(logger) -> (written == 1 || end))': TRUE
#include <pthread.h>
#include <stdio.h>

static int written;

static void *logger(void *unused) {
    (void)unused;
    printf("starting\n");
    written = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, logger, NULL) != 0)
        return 1;
    pthread_detach(thread);
    return 0;
}

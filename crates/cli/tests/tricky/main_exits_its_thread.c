// The right twin of main_returns_early.c: main ends its thread with pthread_exit, and the process goes on until the
// logger has ended.
// Expected --check assert,deadlock,race: TRUE
// Expected --ltl 'F (written == 1)' --fair weak: TRUE
// Expected --ltl 'F end' --fair weak: TRUE
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
    pthread_exit(NULL);
}

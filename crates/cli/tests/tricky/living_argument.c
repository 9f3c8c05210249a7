// The right twin of dangling_argument.c: the helper joins the thread before its local goes.
// Expected --check assert,deadlock,race,memory,locks: TRUE
// Expected --ltl 'F (served == 1)' --fair weak: TRUE
#include <pthread.h>

struct request {
    int id;
    int priority;
};

static int served;

static void *serve(void *arg) {
    struct request *request = arg;
    served = request->id;
    return NULL;
}

static void submit(int id) {
    struct request request = { .id = id, .priority = 1 };
    pthread_t thread;
    pthread_create(&thread, NULL, serve, &request);
    pthread_join(thread, NULL);
}

int main(void) {
    submit(1);
    return 0;
}

// A helper passes the address of its own local to the thread and returns: the thread reads a variable that is gone.
// Expected --check memory: FALSE (valid-deref)
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

static pthread_t submit(int id) {
    struct request request = { .id = id, .priority = 1 };
    pthread_t thread;
    pthread_create(&thread, NULL, serve, &request);
    return thread;
}

int main(void) {
    pthread_t thread = submit(1);
    pthread_join(thread, NULL);
    return 0;
}

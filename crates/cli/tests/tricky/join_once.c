// The right twin of join_twice.c: the flag says that nobody is there to be joined any more.
// Expected --check assert,deadlock,race,memory,locks: TRUE
#include <pthread.h>
#include <stdbool.h>

struct server {
    pthread_t thread;
    bool running;
};

static void *serve(void *arg) {
    (void)arg;
    return NULL;
}

static void server_start(struct server *server) {
    pthread_create(&server->thread, NULL, serve, server);
    server->running = true;
}

static void server_stop(struct server *server) {
    if (server->running) {
        pthread_join(server->thread, NULL);
        server->running = false;
    }
}

int main(void) {
    struct server server;
    server_start(&server);
    server_stop(&server);
    server_stop(&server);
    return 0;
}

// A shutdown function that can be called twice joins the same handle twice. That is undefined in POSIX.
// Expected --check locks: FALSE (valid-locks)
// Expected --check race,memory: UNKNOWN (undefined behaviour: join or detachment of what is no thread, or was joined or detached before)
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
    if (server->running)
        pthread_join(server->thread, NULL);
}

int main(void) {
    struct server server;
    server_start(&server);
    server_stop(&server);
    server_stop(&server);
    return 0;
}

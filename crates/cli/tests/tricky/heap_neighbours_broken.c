// One thread copies the whole struct while another one writes a field of it.
// Expected --check race: FALSE (no-data-race)
// Expected --check assert: FALSE (unreach-call)
// Expected --check deadlock,memory: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct point {
    int x;
    int y;
};

static void *mover(void *arg) {
    struct point *p = arg;
    p->x = 1;
    p->y = 1;
    return NULL;
}

int main(void) {
    struct point *p = calloc(1, sizeof *p);
    if (p == NULL)
        return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, mover, p);
    struct point copy = *p;
    assert(copy.x == copy.y);
    pthread_join(thread, NULL);
    free(p);
    return 0;
}

// A flag on the heap that one thread sets and the other one waits for. Nobody gave it a first value, so that the wait
// may be over before it began; and the accesses race, whatever the flag holds.
// Expected --check assert: FALSE (unreach-call)
// Expected --check race: FALSE (no-data-race)
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int *flag;
static int data;

static void *worker(void *unused)
{
    data = 1;
    *flag = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    flag = malloc(sizeof *flag);
    pthread_create(&thread, 0, worker, 0);
    while (*flag != 1) {
    }
    assert(data == 1);
    pthread_join(thread, 0);
    free(flag);
    return 0;
}

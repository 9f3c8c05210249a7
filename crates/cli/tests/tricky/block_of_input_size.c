// A buffer as large as the input says, within bounds that are tested first. A thread fills it; all sizes
// are tried, and no access leaves the block.
// Expected --check assert: TRUE
// Expected --check memory: TRUE
// Expected --check race: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);

static int *buffer;

static void *fill(void *arg)
{
    int n = (int)(long)arg;
    for (int i = 0; i < n; i++)
        buffer[i] = i;
    return 0;
}

int main(void)
{
    int n = __VERIFIER_nondet_int();
    if (n < 1 || n > 3)
        return 0;
    buffer = malloc(n * sizeof *buffer);
    pthread_t thread;
    pthread_create(&thread, 0, fill, (void *)(long)n);
    pthread_join(thread, 0);
    assert(buffer[n - 1] == n - 1);
    free(buffer);
    return 0;
}

// As `unset_message_broken.c`, but whoever finds no sensible length takes none. The memory may still hold anything
// when it is looked at, and for all of it the assertion holds. Two threads look: to read what was never
// written is no write, and no race.
// Expected --check assert: TRUE
// Expected --check race: TRUE
// Expected --check deadlock: TRUE
// Expected --ltl 'F main::n >= 0': TRUE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct message { int length; int words[4]; };

static struct message *box;

static int length_of(struct message message)
{
    return message.length < 0 || message.length > 4 ? 0 : message.length;
}

static void *worker(void *unused)
{
    int n = length_of(*box);
    assert(n >= 0 && n <= 4);
    return unused;
}

int main(void)
{
    pthread_t thread;
    box = malloc(sizeof *box);
    pthread_create(&thread, 0, worker, 0);
    int n = length_of(*box);
    assert(n >= 0 && n <= 4);
    pthread_join(thread, 0);
    free(box);
    return 0;
}

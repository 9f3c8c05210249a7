// A worker fills a message on the heap, but only where it was asked to in time. The main thread looks at the
// message in any case: its length is then whatever was in that memory, also more than there is room for.
//
// The program reads what was never written, which is a mistake of its own. That no value is known does not mean
// that there is none: the assertion can fail.
// Expected --check assert: FALSE (unreach-call)
// Expected --check uninitialized: FALSE (no-uninitialized)
// Expected --check race: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct message { int length; int words[4]; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct message *box;
static int wanted;

static void *worker(void *unused)
{
    pthread_mutex_lock(&lock);
    if (wanted) {
        box->length = 2;
        box->words[0] = 1;
        box->words[1] = 2;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    box = malloc(sizeof *box);
    pthread_create(&thread, 0, worker, 0);
    pthread_mutex_lock(&lock);
    wanted = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    assert(box->length <= 4);
    free(box);
    return 0;
}

// Four philosophers with forks in a row of mutexes, each of whom takes the lower fork first, and a shared guest book.
// All eat, and nobody waits forever.
// Expected: TRUE
//@ check assert, deadlock
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t fork0 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t fork1 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t fork2 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t fork3 = PTHREAD_MUTEX_INITIALIZER;
static int uses0 = 0;
static int uses1 = 0;
static int uses2 = 0;
static int uses3 = 0;

static pthread_mutex_t book = PTHREAD_MUTEX_INITIALIZER;
static int n_meals = 0;
static int last_guest = -1;

static void sign(int guest) {
    pthread_mutex_lock(&book);
    n_meals = n_meals + 1;
    last_guest = guest;
    assert(n_meals <= 4);
    pthread_mutex_unlock(&book);
}

static void *first(void *arg) {
    pthread_mutex_lock(&fork0);
    uses0++;
    pthread_mutex_lock(&fork1);
    uses1++;
    sign(0);
    pthread_mutex_unlock(&fork1);
    pthread_mutex_unlock(&fork0);
    return NULL;
}

static void *second(void *arg) {
    pthread_mutex_lock(&fork1);
    uses1++;
    pthread_mutex_lock(&fork2);
    uses2++;
    sign(1);
    pthread_mutex_unlock(&fork2);
    pthread_mutex_unlock(&fork1);
    return NULL;
}

static void *third(void *arg) {
    pthread_mutex_lock(&fork2);
    uses2++;
    pthread_mutex_lock(&fork3);
    uses3++;
    sign(2);
    pthread_mutex_unlock(&fork3);
    pthread_mutex_unlock(&fork2);
    return NULL;
}

static void *fourth(void *arg) {
    pthread_mutex_lock(&fork0);
    uses0++;
    pthread_mutex_lock(&fork3);
    uses3++;
    sign(3);
    pthread_mutex_unlock(&fork3);
    pthread_mutex_unlock(&fork0);
    return NULL;
}

int main(void) {
    pthread_t guests[4];
    pthread_create(&guests[0], NULL, first, NULL);
    pthread_create(&guests[1], NULL, second, NULL);
    pthread_create(&guests[2], NULL, third, NULL);
    pthread_create(&guests[3], NULL, fourth, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(guests[i], NULL);
    assert(n_meals == 4);
    assert(last_guest >= 0);
    assert(uses0 == 2 && uses1 == 2 && uses2 == 2 && uses3 == 2);
    return 0;
}

// The lost update on a field of a struct: both tellers read the balance, and one of the two writes is lost.
// The field beside it is written by one teller only and is not raced.
// Expected --check assert: FALSE (unreach-call)
// Expected --check race: FALSE (no-data-race)
// Expected --check deadlock,memory: TRUE
// Expected --ltl 'G (account.visits == 0)': FALSE (valid-ltl)
// Expected --ltl 'G (account.visits <= 1)': TRUE
// Expected --ltl 'F (account.balance == 30)' --fair weak: FALSE (valid-ltl)
#include <assert.h>
#include <pthread.h>

struct account {
    int balance;
    int visits;
};

static struct account account = { 10, 0 };

static void *teller(void *arg) {
    struct account *mine = arg;
    mine->balance += 10;
    return NULL;
}

static void *visitor(void *arg) {
    struct account *mine = arg;
    mine->visits++;
    mine->balance += 10;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, teller, &account);
    pthread_create(&b, NULL, visitor, &account);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(account.visits == 1);
    assert(account.balance == 30);
    return 0;
}

// Two accounts in an array of structs, transfers in both directions, one lock for the bank: money is neither made nor lost.
// Expected --check assert,deadlock,race,memory: TRUE
// Expected --ltl 'G (accounts[0].balance + accounts[1].balance == 20 || holds(transfer_there, bank) || holds(transfer_back, bank))': TRUE
#include <assert.h>
#include <pthread.h>

struct account {
    int number;
    int balance;
};

static struct account accounts[2] = { { .number = 100, .balance = 10 }, { .number = 101, .balance = 10 } };
static pthread_mutex_t bank = PTHREAD_MUTEX_INITIALIZER;

static void move_money(struct account *from, struct account *to, int amount) {
    pthread_mutex_lock(&bank);
    if (from->balance >= amount) {
        from->balance -= amount;
        to->balance += amount;
    }
    pthread_mutex_unlock(&bank);
}

static void *transfer_there(void *unused) {
    (void)unused;
    move_money(&accounts[0], &accounts[1], 7);
    return NULL;
}

static void *transfer_back(void *unused) {
    (void)unused;
    move_money(&accounts[1], &accounts[0], 15);
    return NULL;
}

int main(void) {
    pthread_t there, back;
    pthread_create(&there, NULL, transfer_there, NULL);
    pthread_create(&back, NULL, transfer_back, NULL);
    pthread_join(there, NULL);
    pthread_join(back, NULL);
    assert(accounts[0].balance + accounts[1].balance == 20);
    return 0;
}

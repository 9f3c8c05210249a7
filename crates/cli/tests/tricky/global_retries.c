// A global counter of attempts up to a limit from outside: whatever the limit is, it comes to the end.
// Expected --ltl 'F (served == 1)': TRUE
// Expected --ltl 'G (served == 0 || limit < 1000 || asked == 1)': TRUE
extern int __VERIFIER_nondet_int(void);

int attempts, limit, asked, served;

static void configure(void) {
    limit = __VERIFIER_nondet_int();
    asked = 1;
}

int main(void) {
    configure();
    for (attempts = 0; attempts < limit; attempts++) {
        if (__VERIFIER_nondet_int()) {
            break;
        }
    }
    served = 1;
    return 0;
}

// The twin of global_retries.c: an attempt that is not counted may be made again and again.
// Expected --ltl 'F (served == 1)': FALSE (valid-ltl)
extern int __VERIFIER_nondet_int(void);

int attempts, limit, served;

static void configure(void) {
    limit = __VERIFIER_nondet_int();
}

int main(void) {
    configure();
    for (attempts = 0; attempts < limit;) {
        if (__VERIFIER_nondet_int()) {
            attempts++;
        }
    }
    served = 1;
    return 0;
}

// A loop without end that counts its rounds: the counter never comes back to where it was, but decides nothing.
// Expected --ltl 'G F (lamp == 1)': FALSE (valid-ltl)
// Expected --ltl 'G (lamp == 0 || lamp == 1)': TRUE
extern int __VERIFIER_nondet_int(void);

unsigned long rounds, switched;
int lamp;

int main(void) {
    for (;;) {
        rounds = rounds + 1;
        if (__VERIFIER_nondet_int()) {
            lamp = 1;
            switched = switched + rounds;
        } else {
            lamp = 0;
        }
    }
}

// The depth of a recursion is counted by what comes back: each call adds one to the result of the next. What an
// analysis knows of the result moves by one with every round; it must give up, not count to the end of the type.
//
// Expected --check assert: TRUE
// Expected --ltl 'F depth == 3': TRUE
// Expected --ltl 'G depth < 3': FALSE (valid-ltl)
#include <assert.h>

int depth;

int count(int n) {
    if (n == 0)
        return 0;
    return count(n - 1) + 1;
}

int main(void) {
    depth = count(3);
    assert(depth == 3);
    return 0;
}

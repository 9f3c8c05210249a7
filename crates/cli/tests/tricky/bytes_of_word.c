// Two threads write different bytes of one word through pointers to characters. Bytes are memory locations of their own.
// Expected --check assert,deadlock: TRUE
// Expected --check race: TRUE
#include <assert.h>
#include <pthread.h>

static unsigned word;

static void *low(void *unused) {
    unsigned char *bytes = (unsigned char *)&word;
    bytes[0] = 1;
    return unused;
}

static void *high(void *unused) {
    unsigned char *bytes = (unsigned char *)&word;
    bytes[1] = 1;
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, low, NULL);
    pthread_create(&b, NULL, high, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(word == 0x101);
    return 0;
}

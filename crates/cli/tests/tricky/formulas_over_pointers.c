// Formulas that look through pointers and into structs: a cursor that runs over an array of records.
// The cursor visits the records in order, marks each one, and stays at the last one.
// Outside of quotes `->` is implication, so the formula without them is refused.
// Expected --ltl 'G ("cursor->visited == 0" || "cursor->visited == 1")': TRUE
// Expected --ltl 'F "cursor->id == 3"' --fair weak: TRUE
// Expected --ltl 'G ("cursor->id == 2" -> "records[0].visited == 1")': TRUE
// Expected --ltl 'G ("cursor->id == 2" -> "records[1].visited == 1")': FALSE (valid-ltl)
// Expected --ltl '"range.first == cursor" && F G "cursor == range.last"' --fair weak: TRUE
// Expected --ltl 'F ("walker::steps == 3" && "*count == 3")' --fair weak: TRUE
// Expected --ltl 'F (cursor->id == 3)': refused (unknown-name)
// Expected --check assert,deadlock,race,memory: TRUE
#include <pthread.h>
#include <stddef.h>

struct record {
    int id;
    int visited;
};

static struct record records[3] = { { 1, 0 }, { 2, 0 }, { 3, 0 } };
static struct {
    struct record *first, *last;
} range = { &records[0], &records[2] };
static struct record *cursor = &records[0];
static int total;
static int *count = &total;

static void *walker(void *unused) {
    int steps = 0;
    for (;;) {
        cursor->visited = 1;
        steps++;
        ++*count;
        if (cursor == range.last)
            break;
        cursor++;
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, walker, NULL);
    pthread_join(thread, NULL);
    return 0;
}

/* What the device can do and where its limits are: fetched once, for programs ask a thousand times. */
#include <pthread.h>

#include "warploom.h"

enum { MOST_ATTRIBUTES = 256, HEAP_SIZE = 2, LIMITS = 7 };

static int32_t values[MOST_ATTRIBUTES];
static word count;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;

status attribute(int number, int *value) {
    word answer[ANSWER_WORDS];
    status outcome = SUCCESS;
    pthread_mutex_lock(&table);
    if (!count) {
        outcome = ask(ATTRIBUTES, 0, NULL, NULL, 0, answer, values, sizeof values);
        if (!outcome) count = answer[0];
    }
    pthread_mutex_unlock(&table);
    if (outcome) return outcome;
    if (number < 1 || (word)number >= count) return INVALID_VALUE;
    *value = values[number];
    return SUCCESS;
}

/* Sizes of the stack, of what is printed, of the heap; depth of synchronisation, launches that wait, bytes fetched, persisting L2. */
static word limits[LIMITS] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};

status get_limit(int number, word *value) {
    if (number < 0 || number >= LIMITS) return INVALID_VALUE;
    *value = limits[number];
    return SUCCESS;
}

status set_limit(int number, word value) {
    if (number < 0 || number >= LIMITS) return INVALID_VALUE;
    status outcome = ASK(LIMIT, NULL, number, value);
    if (!outcome) limits[number] = value;
    return outcome;
}

/* Errors: each thread has its last one. */
#include <stdio.h>

#include "warploom.h"

static _Thread_local status last;

static const struct { status code; const char *name, *words; } table[] = {
#include "errors.inc"
};

/* Every call that does something makes the primary context the thread's, if it has none. */
status noted(status outcome) {
    if (outcome) last = outcome;
    if (!current_context()) set_context(primary_context());
    return outcome;
}

/* A function that is not there says so once. */
status missing(const char *name, int *said) {
    if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED)) {
        fprintf(stderr, "warploom: the program calls %s, which is not supported; it gets cudaErrorNotSupported\n", name);
    }
    return noted(NOT_SUPPORTED);
}

API status cudaGetLastError(void) {
    status was = last;
    last = SUCCESS;
    return was;
}

API status cudaPeekAtLastError(void) { return last; }

API const char *cudaGetErrorName(status code) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code) return table[i].name;
    return "unrecognized error code";
}

API const char *cudaGetErrorString(status code) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code) return table[i].words;
    return "unrecognized error code";
}

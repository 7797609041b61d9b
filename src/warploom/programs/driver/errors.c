/* Errors by number, and what is not there. */
#include <stdio.h>

#include "driver.h"

static const struct { status code; const char *name, *words; } table[] = {
#include "errors.inc"
};

API status cuGetErrorName(status code, const char **name) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code) return *name = table[i].name, SUCCESS;
    return *name = NULL, INVALID_VALUE;
}

API status cuGetErrorString(status code, const char **words) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code) return *words = table[i].words, SUCCESS;
    return *words = NULL, INVALID_VALUE;
}

/* A function that is not there says so once. */
status missing(const char *name, int *said) {
    if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "warploom: the program calls %s, which is not supported; it gets CUDA_ERROR_NOT_SUPPORTED\n", name);
    return NOT_SUPPORTED;
}

/* Some errors exist for the runtime alone. */
status checked(status outcome) {
    enum { INVALID_CONFIGURATION = 9, INVALID_DIRECTION = 21 };
    switch (outcome) {
    case INVALID_CONFIGURATION:
    case INVALID_PITCH:
    case INVALID_DIRECTION: return INVALID_VALUE;
    case INVALID_SYMBOL:
    case INVALID_FUNCTION: return NOT_FOUND;
    default: return outcome;
    }
}

/* The driver's log, which stays empty: what is wrong is said on standard error. */
API status cuLogsRegisterCallback(void *call, void *data, void **handle) {
    (void)call, (void)data;
    if (handle) *handle = (void *)table;
    return SUCCESS;
}
API status cuLogsUnregisterCallback(void *handle) { return handle ? SUCCESS : INVALID_VALUE; }
API status cuLogsCurrent(unsigned *place, unsigned flags) { return (void)flags, *place = 0, SUCCESS; }
API status cuLogsDumpToMemory(unsigned *place, char *text, size_t *bytes, unsigned flags) {
    (void)place, (void)flags;
    if (*bytes) *text = 0;
    return *bytes = 0, SUCCESS;
}

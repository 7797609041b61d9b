/* How programs find the functions of this library, besides by linking. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

enum { FOUND, NO_SYMBOL, VERSION_TOO_OLD }; /* CUdriverProcAddressQueryResult */

/* The newest that is not newer than asked for; one for streams of each thread only where these are meant. */
API status cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *result) {
    enum { PER_THREAD = 2 };
    int best = -1, seen = 0;
    if (!name || !function) return INVALID_VALUE;
    for (int i = 0; entries[i].name; i++) {
        if (strcmp(entries[i].name, name)) continue;
        seen = 1;
        if (entries[i].version > version || (entries[i].per_thread && !(flags & PER_THREAD))) continue;
        if (best < 0 || entries[i].version > entries[best].version ||
            (entries[i].version == entries[best].version && entries[i].per_thread))
            best = i;
    }
    *function = best < 0 ? NULL : (void *)entries[best].function;
    if (result) *result = best >= 0 ? FOUND : seen ? VERSION_TOO_OLD : NO_SYMBOL;
    return best < 0 ? NOT_FOUND : SUCCESS;
}

API status cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

/* Private tables, which CUDA's own runtime asks for when it stands inside a program or a library. There are none. */
API status cuGetExportTable(const void **table, const void *id) {
    static int said;
    Dl_info caller;
    (void)id;
    *table = NULL;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) {
        const char *home = dladdr(__builtin_return_address(0), &caller) && caller.dli_fname ? caller.dli_fname : "";
        const char *name = strrchr(home, '/') ? strrchr(home, '/') + 1 : home;
        fprintf(stderr, "warploom: a copy of CUDA's runtime in this program or one of its libraries (%s) asks the driver for what only "
                        "NVIDIA's has; link it with: nvcc -cudart shared\n", name);
    }
    return NOT_FOUND;
}

/* Every function of the driver's interface, as a jump to the real one; those that are noted stand elsewhere, and are stronger. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/beside/beside.h"

enum { NOT_FOUND = 500 };

void *warploom_real[ENTRIES];

#if defined(__x86_64__)
#define JUMP(symbol, place) #symbol ": jmp *warploom_real+8*" #place "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(symbol, place) \
    #symbol ": adrp x16, warploom_real+8*" #place "\n ldr x16, [x16, #:lo12:warploom_real+8*" #place "]\n br x16\n"
#else
#error "the recorder knows no jumps of this processor"
#endif
#define FORWARD(symbol, place) __asm__(".text\n.weak " #symbol "\n.type " #symbol ", @function\n" JUMP(symbol, place));
#include "driver/forwards.inc"

#define PLACE(symbol) status symbol(void);
#include "driver/places.inc"
#undef PLACE

static const struct { const char *name; void *ours; } table[] = {
#define PLACE(symbol) {#symbol, symbol},
#include "driver/places.inc"
#undef PLACE
};

static status not_there(void) { return NOT_FOUND; }

static void __attribute__((constructor)) open_real(void) {
    const char *path = getenv("WARPLOOM_REAL_DRIVER");
    void *driver = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!driver) fprintf(stderr, "warploom: the driver that is recorded cannot be loaded: %s\n", path ? dlerror() : "it has no name");
    for (int i = 0; i < ENTRIES; i++) {
        void *found = driver ? dlsym(driver, table[i].name) : NULL;
        warploom_real[i] = found ? found : (void *)not_there;
    }
}

/* What programs are given in place of a real function. */
void *ours_for(void *function) {
    for (int i = 0; i < ENTRIES; i++)
        if (warploom_real[i] == function) return table[i].ours;
    return function;
}

/* Fat binaries, kernels and variables: what the program says of itself before it begins. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warploom.h"

struct variable {
    const void *host;
    char *name;
    struct image *image;
    void **managed; /* where the program looks for the address of a managed variable */
    word address, bytes;
    struct variable *next;
};

static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;
static struct variable *variables;

API void **__cudaRegisterFatBinary(void *wrapper) {
    struct image *image = calloc(1, sizeof *image);
    image->data = wrapper;
    return (void **)image;
}

static void resolve_managed(struct image *image) {
    word bytes;
    for (struct variable *each = variables; each; each = each->next)
        if (each->managed && each->image == image && !each->address) {
            symbol(each->host, &each->address, &bytes);
            *each->managed = AS_POINTER(each->address);
        }
}

API void __cudaRegisterFatBinaryEnd(void **handle) { resolve_managed((struct image *)handle); }

API char __cudaInitModule(void **handle) {
    resolve_managed((struct image *)handle);
    return 1;
}

API void __cudaUnregisterFatBinary(void **handle) {
    const struct image *image = (struct image *)handle;
    if (image->sent && !image->outcome) ASK(UNLOAD, NULL, image->number);
}

API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *tid, void *bid,
                                void *block, void *grid, int *warp) {
    (void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    add_kernel((struct image *)handle, host, name);
}

static void add_variable(void **handle, const void *host, void **managed, const char *name, size_t bytes) {
    struct variable *variable = calloc(1, sizeof *variable);
    *variable = (struct variable){.host = host, .name = strdup(name), .image = (struct image *)handle, .managed = managed};
    variable->bytes = bytes;
    pthread_mutex_lock(&lists);
    variable->next = variables;
    variables = variable;
    pthread_mutex_unlock(&lists);
}

API void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext, size_t bytes, int constant,
                           int global) {
    (void)address, (void)ext, (void)constant, (void)global;
    add_variable(handle, host, NULL, name, bytes);
}

API void __cudaRegisterManagedVar(void **handle, void **host, char *address, const char *name, int ext, size_t bytes, int constant,
                                  int global) {
    (void)address, (void)ext, (void)constant, (void)global;
    add_variable(handle, host, host, name, bytes);
}

status symbol(const void *host, word *address, word *bytes) {
    struct variable *each;
    word answer[ANSWER_WORDS];
    for (each = variables; each && each->host != host; each = each->next) {
        if (each->managed && *each->managed == host && host) break; /* the address of a managed variable is the variable */
    }
    if (!each) return INVALID_SYMBOL;
    if (!each->address) {
        status outcome = send_image(each->image);
        if (outcome) return outcome;
        word given[] = {each->image->number, each->managed != NULL};
        outcome = ask(VARIABLE, 2, given, each->name, strlen(each->name), answer, NULL, 0);
        if (outcome) return outcome;
        each->address = answer[0];
    }
    *address = each->address;
    *bytes = each->bytes;
    return SUCCESS;
}

API status cudaGetSymbolAddress(void **address, const void *host) {
    word where, bytes;
    status outcome = symbol(host, &where, &bytes);
    if (!outcome) *address = AS_POINTER(where);
    return noted(outcome);
}

API status cudaGetSymbolSize(size_t *size, const void *host) {
    word where, bytes;
    status outcome = symbol(host, &where, &bytes);
    if (!outcome) *size = bytes;
    return noted(outcome);
}

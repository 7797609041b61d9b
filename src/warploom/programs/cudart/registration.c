/* Fat binaries, kernels and variables: what the program says of itself before it begins. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warploom.h"

struct wrapper { uint32_t magic, version; const void *data; const void *const *parts; };
struct container { uint32_t magic; uint16_t version, header; uint64_t bytes; };
struct module { word number; };
struct variable {
    const void *host;
    char *name;
    struct module *module;
    void **managed; /* where the program looks for the address of a managed variable */
    word address, bytes;
    struct variable *next;
};

static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels;
static struct variable *variables;

static word container_bytes(const void *data) {
    const struct container *head = data;
    return head->magic == 0xBA55ED50 ? head->header + head->bytes : 0;
}

API void **__cudaRegisterFatBinary(void *given) {
    const struct wrapper *wrapper = given;
    struct module *module = calloc(1, sizeof *module);
    word answer[ANSWER_WORDS] = {0};
    /* Of linked device code, `data` is the linked binary; the parts are what it was linked from. */
    word whole = container_bytes(wrapper->data), all = whole;
    if (wrapper->version == 2 && wrapper->parts)
        for (const void *const *part = wrapper->parts; *part; part++) all += container_bytes(*part);
    char *blob = malloc(all + 1), *end = blob + whole;
    memcpy(blob, wrapper->data, whole);
    if (wrapper->version == 2 && wrapper->parts)
        for (const void *const *part = wrapper->parts; *part; end += container_bytes(*part++)) memcpy(end, *part, container_bytes(*part));
    ask(MODULE, 0, NULL, blob, all, answer, NULL, 0);
    free(blob);
    module->number = answer[0];
    return (void **)module;
}

static void resolve_managed(struct module *module) {
    word bytes;
    for (struct variable *each = variables; each; each = each->next)
        if (each->managed && each->module == module && !each->address) {
            symbol(each->host, &each->address, &bytes);
            *each->managed = AS_POINTER(each->address);
        }
}

API void __cudaRegisterFatBinaryEnd(void **handle) { resolve_managed((struct module *)handle); }

API char __cudaInitModule(void **handle) {
    resolve_managed((struct module *)handle);
    return 1;
}

API void __cudaUnregisterFatBinary(void **handle) { ASK(UNLOAD, NULL, ((struct module *)handle)->number); }

API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *tid, void *bid,
                                void *block, void *grid, int *warp) {
    struct kernel *kernel = calloc(1, sizeof *kernel);
    (void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    kernel->host = host;
    kernel->name = strdup(name);
    kernel->module = ((struct module *)handle)->number;
    pthread_mutex_lock(&lists);
    kernel->next = kernels;
    kernels = kernel;
    pthread_mutex_unlock(&lists);
}

static void add_variable(void **handle, const void *host, void **managed, const char *name, size_t bytes) {
    struct variable *variable = calloc(1, sizeof *variable);
    *variable = (struct variable){.host = host, .name = strdup(name), .module = (struct module *)handle, .managed = managed};
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

struct kernel *find_kernel(const void *host) {
    struct kernel *each;
    pthread_mutex_lock(&lists);
    for (each = kernels; each && each->host != host && (const void *)each != host; each = each->next) {}
    pthread_mutex_unlock(&lists);
    return each;
}

status know(struct kernel *kernel) {
    uint32_t shape[2 * 4096];
    word answer[ANSWER_WORDS];
    if (kernel->known) return SUCCESS;
    word given[] = {kernel->module};
    status outcome = ask(KERNEL, 1, given, kernel->name, strlen(kernel->name), answer, shape, sizeof shape);
    if (outcome) return outcome;
    kernel->number = answer[0];
    kernel->bytes = answer[1];
    kernel->parameters = answer[2];
    kernel->offsets = malloc(4 * kernel->parameters + 1);
    kernel->sizes = malloc(4 * kernel->parameters + 1);
    for (unsigned i = 0; i < kernel->parameters; i++) {
        kernel->offsets[i] = shape[2 * i];
        kernel->sizes[i] = shape[2 * i + 1];
    }
    __atomic_store_n(&kernel->known, 1, __ATOMIC_RELEASE);
    return SUCCESS;
}

status symbol(const void *host, word *address, word *bytes) {
    struct variable *each;
    word answer[ANSWER_WORDS];
    for (each = variables; each && each->host != host; each = each->next) {
        if (each->managed && *each->managed == host && host) break; /* the address of a managed variable is the variable */
    }
    if (!each) return INVALID_SYMBOL;
    if (!each->address) {
        word given[] = {each->module->number, each->managed != NULL};
        status outcome = ask(VARIABLE, 2, given, each->name, strlen(each->name), answer, NULL, 0);
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

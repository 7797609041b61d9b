/* The fat binaries and kernels of a program, as the program registers them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "warploom.h"

struct wrapper { uint32_t magic, version; const void *data; const void *const *parts; };
struct container { uint32_t magic; uint16_t version, header; uint64_t bytes; };

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels;

static word container_bytes(const void *data) {
    const struct container *head = data;
    return head->magic == 0xBA55ED50 ? head->header + head->bytes : 0;
}

word send_module(const void *given) {
    const struct wrapper *wrapper = given;
    word answer[ANSWER_WORDS] = {0};
    /* Of linked device code, `data` is the linked binary; the parts are what it was linked from. */
    const void *const *parts = wrapper->version == 2 ? wrapper->parts : NULL;
    word whole = container_bytes(wrapper->data), all = whole;
    for (const void *const *part = parts; part && *part; part++) all += container_bytes(*part);
    char *blob = malloc(all + 1), *end = blob + whole;
    memcpy(blob, wrapper->data, whole);
    for (const void *const *part = parts; part && *part; end += container_bytes(*part++)) memcpy(end, *part, container_bytes(*part));
    ask(MODULE, 0, NULL, blob, all, answer, NULL, 0);
    free(blob);
    return answer[0];
}

void add_kernel(word module, const void *host, const char *name) {
    struct kernel *kernel = calloc(1, sizeof *kernel);
    kernel->host = host;
    kernel->name = strdup(name);
    kernel->module = module;
    pthread_mutex_lock(&list);
    kernel->next = kernels;
    kernels = kernel;
    pthread_mutex_unlock(&list);
}

struct kernel *find_kernel(const void *host) {
    struct kernel *each;
    pthread_mutex_lock(&list);
    for (each = kernels; each && each->host != host && (const void *)each != host; each = each->next) {}
    pthread_mutex_unlock(&list);
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

word pack(const struct kernel *kernel, void **arguments, char *space) {
    memset(space, 0, kernel->bytes); /* gaps between parameters hold nothing */
    for (unsigned i = 0; i < kernel->parameters; i++) memcpy(space + kernel->offsets[i], arguments[i], kernel->sizes[i]);
    return kernel->bytes;
}

/* The modules and kernels of a program, as the program registers or loads them. */
#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "warploom.h"

struct wrapper { uint32_t magic, version; const void *data; const void *const *parts; };
struct container { uint32_t magic; uint16_t version, header; uint64_t bytes; };

enum { WRAPPER = 0x466243B1, CONTAINER = 0xBA55ED50, BUCKETS = 4096 };

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels[BUCKETS]; /* by the stubs that stand for them */

static struct kernel **bucket(const void *host) { return &kernels[(AS_WORD(host) >> 4) * 0x9E3779B97F4A7C15ull >> 52]; }

static word container_bytes(const void *data) {
    const struct container *head = data;
    return head->magic == CONTAINER ? head->header + head->bytes : 0;
}

static word larger(word one, word other) { return one > other ? one : other; }

/* Nobody says how long a cubin in memory is: it ends where the last of its tables and sections does. */
static word elf_bytes(const void *data) {
    const Elf64_Ehdr *head = data;
    const Elf64_Shdr *section = (const void *)((const char *)data + head->e_shoff);
    word end = larger(head->e_shoff + (word)head->e_shnum * head->e_shentsize, head->e_phoff + (word)head->e_phnum * head->e_phentsize);
    for (unsigned i = 0; i < head->e_shnum; i++)
        if (section[i].sh_type != SHT_NOBITS) end = larger(end, section[i].sh_offset + section[i].sh_size);
    return end;
}

static word image_bytes(const void *image) {
    if (!memcmp(image, ELFMAG, SELFMAG)) return elf_bytes(image);
    word bytes = container_bytes(image);
    return bytes ? bytes : strlen(image); /* PTX is text */
}

static status send_bytes(const void *image, word bytes, word *number) {
    word answer[ANSWER_WORDS];
    status outcome = ask(MODULE, 0, NULL, image, bytes, answer, NULL, 0);
    if (!outcome) *number = answer[0];
    return outcome;
}

static status send_whole(const void *image, word *number) {
    const struct wrapper *wrapper = image;
    if (wrapper->magic != WRAPPER) return send_bytes(image, image_bytes(image), number);
    if (container_bytes(wrapper->data) == 0) return send_bytes(wrapper->data, image_bytes(wrapper->data), number);
    /* Of linked device code, `data` is the linked binary; the parts are what it was linked from. */
    const void *const *parts = wrapper->version == 2 ? wrapper->parts : NULL;
    word whole = container_bytes(wrapper->data), all = whole;
    for (const void *const *part = parts; part && *part; part++) all += container_bytes(*part);
    char *blob = malloc(all + 1), *end = blob + whole;
    memcpy(blob, wrapper->data, whole);
    for (const void *const *part = parts; part && *part; end += container_bytes(*part++)) memcpy(end, *part, container_bytes(*part));
    status outcome = send_bytes(blob, all, number);
    free(blob);
    return outcome;
}

status send_image(struct image *image) {
    take_turn();
    if (!image->sent) image->outcome = send_whole(image->data, &image->number);
    image->sent = 1;
    give_turn();
    return image->outcome;
}

struct kernel *add_kernel(struct image *image, const void *host, const char *name) {
    struct kernel *kernel = calloc(1, sizeof *kernel);
    kernel->host = host;
    kernel->name = strdup(name);
    kernel->image = image;
    pthread_mutex_lock(&list);
    kernel->next = *bucket(host);
    *bucket(host) = kernel;
    pthread_mutex_unlock(&list);
    return kernel;
}

/* A kernel's handle may stand in the place of its stub. */
static struct kernel *with_handle(const void *handle) {
    for (int place = 0; place < BUCKETS; place++)
        for (struct kernel *each = kernels[place]; each; each = each->next)
            if ((const void *)each == handle) return each;
    return NULL;
}

struct kernel *find_kernel(const void *host) {
    struct kernel *each;
    pthread_mutex_lock(&list);
    for (each = *bucket(host); each && each->host != host; each = each->next) {}
    if (!each) each = with_handle(host);
    pthread_mutex_unlock(&list);
    return each;
}

status know(struct kernel *kernel) {
    uint32_t shape[2 * 4096];
    word answer[ANSWER_WORDS];
    if (kernel->known) return SUCCESS;
    status outcome = send_image(kernel->image);
    if (outcome) return outcome;
    word given[] = {kernel->image->number};
    outcome = ask(KERNEL, 1, given, kernel->name, strlen(kernel->name), answer, shape, sizeof shape);
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

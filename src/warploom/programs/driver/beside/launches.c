/* Launches, in all the ways that programs write them. Each is at its end before the program goes on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/beside/beside.h"

enum { MOST_HOST = 256, MOST_RANGES = 4096 };

struct configuration {
    dim3 grid, block;
    unsigned shared;
    void *stream;
    struct launch_attribute *attributes;
    unsigned count;
};

API status cuMemcpyDtoH_v2(void *to, address from, size_t bytes);

/* Memory that both see is noted before the launch, as the program has left it, and behind it, as the kernel has. */
static void show_host(int operation) {
    struct noted found[MOST_HOST];
    unsigned count = host_allocations(found, MOST_HOST);
    for (unsigned i = 0; i < count; i++)
        tell_block(operation, found[i].start, found[i].bytes, found[i].bytes, AS_POINTER(found[i].start), found[i].bytes, found[i].bytes,
                   found[i].bytes, 1, 1);
}

/* Memory of the device that is asked for. */
static void show_device(int operation, const word *ranges, word count) {
    for (const word *each = ranges; each < ranges + 2 * count; each += 2) {
        char *copy = malloc(each[1] + 1);
        if (!REAL(cuMemcpyDtoH_v2)(copy, each[0], each[1]))
            tell_block(operation, each[0], each[1], each[1], copy, each[1], each[1], each[1], 1, 1);
        free(copy);
    }
}

/* Ask until nothing more is wanted, for what is shown may lead to more; 0 if the launch is not to be noted. */
static int show_wanted(struct kernel *kernel, const char *parameters, word bytes, word *ranges, word *count) {
    word answer[ANSWER_WORDS], given[] = {kernel->number, 0};
    for (*count = 0;; given[1] = 1) {
        word *fresh = ranges + 2 * *count, room = 16 * (MOST_RANGES - *count);
        if (ask(WANTED, 2, given, parameters, bytes, answer, fresh, room)) return 0;
        if (!answer[0] || *count + answer[0] > MOST_RANGES) return answer[1];
        show_device(WROTE, fresh, answer[0]);
        *count += answer[0];
    }
}

static word packed(struct kernel *kernel, void **arguments, void **extra, char *space) {
    enum { END, BUFFER, SIZE };
    if (!extra || arguments) return pack(kernel, arguments, space);
    for (; AS_WORD(extra[0]) != END; extra += 2)
        if (AS_WORD(extra[0]) == BUFFER) memcpy(space, extra[1], kernel->bytes);
    return kernel->bytes;
}

static status noted_launch(void *function, const struct shape *shape, void **arguments, void **extra, status (*make)(void *),
                           void *how) {
    char space[MOST_PARAMETER_BYTES];
    static word ranges[2 * MOST_RANGES]; /* one launch at a time */
    word count = 0;
    if (is_captured(shape->stream)) return make(how);
    struct kernel *kernel = kernel_of(function);
    if (!kernel || know(kernel)) {
        fprintf(stderr, "warploom: a launch of %s cannot be recorded\n", kernel ? kernel->name : "a kernel of a module that is not known");
        return make(how);
    }
    finish_all();
    word bytes = packed(kernel, arguments, extra, space);
    int noted = show_wanted(kernel, space, bytes, ranges, &count);
    if (noted) show_host(WROTE);
    status outcome = make(how);
    if (noted && !outcome) { /* one that was refused has not been made */
        dim3 grid = shape->grid, block = shape->block, cluster = shape->cluster;
        word given[] = {kernel->number, grid.x, grid.y, grid.z, block.x, block.y, block.z, shape->shared, 0, shape->cooperative,
                        cluster.x | (word)cluster.y << 16 | (word)cluster.z << 32};
        ask(LAUNCH, 11, given, space, bytes, NULL, NULL, 0);
    }
    finish_all();
    if (noted) {
        show_host(READ_BACK);
        if (!outcome) show_device(READ_BACK, ranges, count);
        ask(WANTED, 2, (word[]){kernel->number, 2}, NULL, 0, NULL, NULL, 0);
    }
    return outcome;
}

struct plain { void *function; struct shape shape; void **arguments, **extra; };

API status cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                          void *stream, void **arguments, void **extra);
static status make_plain(void *given) {
    struct plain *how = given;
    dim3 grid = how->shape.grid, block = how->shape.block;
    return REAL(cuLaunchKernel)(how->function, grid.x, grid.y, grid.z, block.x, block.y, block.z, how->shape.shared, how->shape.stream,
                                how->arguments, how->extra);
}
API status cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                          void *stream, void **arguments, void **extra) {
    struct plain how = {function, {{gx, gy, gz}, {bx, by, bz}, {0, 0, 0}, shared, stream, 0}, arguments, extra};
    return IN_TURN(noted_launch(function, &how.shape, arguments, extra, make_plain, &how));
}

API status cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                     unsigned shared, void *stream, void **arguments);
static status make_cooperative(void *given) {
    struct plain *how = given;
    dim3 grid = how->shape.grid, block = how->shape.block;
    return REAL(cuLaunchCooperativeKernel)(how->function, grid.x, grid.y, grid.z, block.x, block.y, block.z, how->shape.shared,
                                           how->shape.stream, how->arguments);
}
API status cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                     unsigned shared, void *stream, void **arguments) {
    struct plain how = {function, {{gx, gy, gz}, {bx, by, bz}, {0, 0, 0}, shared, stream, 1}, arguments, NULL};
    return IN_TURN(noted_launch(function, &how.shape, arguments, NULL, make_cooperative, &how));
}

struct described { const struct configuration *configuration; void *function, **arguments, **extra; };
API status cuLaunchKernelEx(const struct configuration *how, void *function, void **arguments, void **extra);
static status make_described(void *given) {
    struct described *how = given;
    return REAL(cuLaunchKernelEx)(how->configuration, how->function, how->arguments, how->extra);
}
API status cuLaunchKernelEx(const struct configuration *how, void *function, void **arguments, void **extra) {
    struct shape shape = {how->grid, how->block, {0, 0, 0}, how->shared, how->stream, 0};
    struct described described = {how, function, arguments, extra};
    read_attributes(&shape, how->attributes, how->count);
    return IN_TURN(noted_launch(function, &shape, arguments, extra, make_described, &described));
}

/* What is let through but not noted. */
API status cuGraphLaunch(void *graph, void *stream) {
    static int said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) unrecorded("cuGraphLaunch");
    return REAL(cuGraphLaunch)(graph, stream);
}
API status cuTexObjectCreate(void *texture, const void *from, const void *how, const void *view) {
    static int said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) unrecorded("cuTexObjectCreate");
    return REAL(cuTexObjectCreate)(texture, from, how, view);
}

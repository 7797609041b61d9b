/* Launches: their parameters packed, and handed over without waiting where nothing can be wrong with them. */
#include "graphs.h"

static int is_plain(const struct shape *shape) {
    enum { USUAL_SHARED = 48 << 10, MOST_THREADS = 1024, MOST_LAYERS = 64, MOST_BLOCKS = 65535 };
    dim3 grid = shape->grid, block = shape->block;
    word threads = (word)block.x * block.y * block.z;
    return threads && threads <= MOST_THREADS && block.z <= MOST_LAYERS && grid.x && grid.x <= INT32_MAX && grid.y && grid.z &&
           grid.y <= MOST_BLOCKS && grid.z <= MOST_BLOCKS && shape->shared <= USUAL_SHARED && shape->cluster.x <= 1;
}

status launch_packed(struct kernel *kernel, const struct shape *shape, const void *parameters, word bytes) {
    struct graph *graph = noted_in() ? noted_in() : captured(shape->stream);
    if (graph) return note_launch(graph, kernel, shape, parameters, bytes);
    dim3 grid = shape->grid, block = shape->block, cluster = shape->cluster;
    word together = cluster.x | (word)cluster.y << 16 | (word)cluster.z << 32;
    word given[] = {kernel->number, grid.x, grid.y, grid.z, block.x, block.y, block.z, shape->shared, AS_WORD(shape->stream),
                    shape->cooperative, together};
    int words = sizeof given / sizeof *given;
    if (kernel->ran && is_plain(shape)) return tell(LAUNCH, words, given, parameters, bytes);
    status outcome = ask(LAUNCH, words, given, parameters, bytes, NULL, NULL, 0);
    if (!outcome) kernel->ran = 1;
    return outcome;
}

status launch(struct kernel *kernel, const struct shape *shape, void **arguments) {
    char space[MOST_PARAMETER_BYTES];
    status outcome = know(kernel);
    if (outcome) return outcome;
    if (kernel->bytes > sizeof space || (kernel->parameters && !arguments)) return INVALID_VALUE;
    return launch_packed(kernel, shape, space, pack(kernel, arguments, space));
}

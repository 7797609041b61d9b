/* Descriptions of tensors for copies of tiles. The simulator makes them, where it reads them too. */
#include <string.h>

#include "driver.h"

enum { MAP_BYTES = 128, MOST_DIMENSIONS = 5, TILED = 0, COLUMNS = 1 };

/* What both kinds are given, as the simulator takes it. */
struct described {
    word columns, type, dimensions, address, interleave, swizzle, promotion, nan, channels, pixels;
    word sizes[MOST_DIMENSIONS], strides[MOST_DIMENSIONS], steps[MOST_DIMENSIONS];
    int64_t box[MOST_DIMENSIONS], upper[MOST_DIMENSIONS]; /* of columns the corners of the window */
};

static status describe(void *map, struct described *how, const word *sizes, const word *strides, const unsigned *steps) {
    if (!map || !sizes || !steps || how->dimensions < 1 || how->dimensions > MOST_DIMENSIONS) return INVALID_VALUE;
    if (how->dimensions > 1 && !strides) return INVALID_VALUE;
    for (word i = 0; i < how->dimensions; i++) how->sizes[i] = sizes[i], how->steps[i] = steps[i];
    for (word i = 0; i + 1 < how->dimensions; i++) how->strides[i] = strides[i];
    return ask(TENSOR_MAP, 0, NULL, how, sizeof *how, NULL, map, MAP_BYTES);
}

API status cuTensorMapEncodeTiled(void *map, int type, unsigned dimensions, void *where, const word *sizes, const word *strides,
                                  const unsigned *box, const unsigned *steps, int interleave, int swizzle, int promotion, int nan) {
    struct described how = {TILED, type, dimensions, AS_WORD(where), interleave, swizzle, promotion, nan};
    if (!box) return INVALID_VALUE;
    for (unsigned i = 0; i < dimensions && i < MOST_DIMENSIONS; i++) how.box[i] = box[i];
    return describe(map, &how, sizes, strides, steps);
}

API status cuTensorMapEncodeIm2col(void *map, int type, unsigned dimensions, void *where, const word *sizes, const word *strides,
                                   const int *lower, const int *upper, unsigned channels, unsigned pixels, const unsigned *steps,
                                   int interleave, int swizzle, int promotion, int nan) {
    struct described how = {COLUMNS, type, dimensions, AS_WORD(where), interleave, swizzle, promotion, nan, channels, pixels};
    if (!lower || !upper) return INVALID_VALUE;
    for (unsigned i = 0; i + 2 < dimensions && i < MOST_DIMENSIONS; i++) how.box[i] = lower[i], how.upper[i] = upper[i];
    return describe(map, &how, sizes, strides, steps);
}

API status cuTensorMapReplaceAddress(void *map, void *where) {
    enum { LEAST_ALIGNMENT = 16 };
    if (!map || AS_WORD(where) % LEAST_ALIGNMENT) return INVALID_VALUE;
    memcpy(map, &where, sizeof where); /* it comes first */
    return SUCCESS;
}

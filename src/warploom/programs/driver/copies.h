/* How programs describe copies of blocks of rows. */
#ifndef COPIES_H
#define COPIES_H

/* Where a block of rows begins: CUDA's description of one side of a copy. */
struct side { size_t x, y, z, layer; unsigned type; const void *host; address device; const struct array *array; void *reserved; size_t pitch, height; };
struct flat_side { size_t x, y; unsigned type; const void *host; address device; const struct array *array; size_t pitch; };
struct flat_copy { struct flat_side from, to; size_t width, height; };
struct deep_copy { struct side from, to; size_t width, height, depth; };
enum { ON_HOST = 1, ON_DEVICE, IN_ARRAY, UNIFIED };

static inline struct side of_flat(const struct flat_side *flat) {
    return (struct side){flat->x, flat->y, 0, 0, flat->type, flat->host, flat->device, flat->array, NULL, flat->pitch, 0};
}

#endif

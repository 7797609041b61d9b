/* Copies and fills: what goes to the device, what comes back, and what moves there. */
#include <stdlib.h>
#include <string.h>

#include "driver/beside/beside.h"
#include "driver/copies.h"

struct block { word start, pitch, slice; };

static int on_device(word where) {
    const struct noted *found = allocation_of(where);
    return found && found->kind != PINNED_MEMORY;
}

static status noted_copy(status outcome, struct block to, struct block from, word width, word rows, word slices, int kind, void *stream) {
    if (outcome || !width || !rows || !slices) return outcome;
    if (is_captured(stream)) return outcome;
    finish_all();
    int to_device = kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE || (kind == DEFAULT_KIND && on_device(to.start));
    int from_device = kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE || (kind == DEFAULT_KIND && on_device(from.start));
    if (to_device && from_device)
        ASK(MOVED, NULL, to.start, to.pitch, to.slice, from.start, from.pitch, from.slice, width, rows, slices);
    else if (to_device)
        tell_block(WROTE, to.start, to.pitch, to.slice, AS_POINTER(from.start), from.pitch, from.slice, width, rows, slices);
    else if (from_device)
        tell_block(READ_BACK, from.start, from.pitch, from.slice, AS_POINTER(to.start), to.pitch, to.slice, width, rows, slices);
    return outcome;
}

static status noted_row(status outcome, word to, word from, word bytes, int kind, void *stream) {
    return noted_copy(outcome, (struct block){to, bytes, bytes}, (struct block){from, bytes, bytes}, bytes, 1, 1, kind, stream);
}

#define COPIES(name, parameters, arguments, kind, stream) \
    API status name parameters { return IN_TURN(noted_row(REAL(name) arguments, AS_WORD(to), AS_WORD(from), bytes, kind, stream)); }
COPIES(cuMemcpy, (address to, address from, size_t bytes), (to, from, bytes), DEFAULT_KIND, NULL)
COPIES(cuMemcpyHtoD_v2, (address to, const void *from, size_t bytes), (to, from, bytes), HOST_TO_DEVICE, NULL)
COPIES(cuMemcpyDtoH_v2, (void *to, address from, size_t bytes), (to, from, bytes), DEVICE_TO_HOST, NULL)
COPIES(cuMemcpyDtoD_v2, (address to, address from, size_t bytes), (to, from, bytes), DEVICE_TO_DEVICE, NULL)
COPIES(cuMemcpyAsync, (address to, address from, size_t bytes, void *stream), (to, from, bytes, stream), DEFAULT_KIND, stream)
COPIES(cuMemcpyHtoDAsync_v2, (address to, const void *from, size_t bytes, void *stream), (to, from, bytes, stream), HOST_TO_DEVICE, stream)
COPIES(cuMemcpyDtoHAsync_v2, (void *to, address from, size_t bytes, void *stream), (to, from, bytes, stream), DEVICE_TO_HOST, stream)
COPIES(cuMemcpyDtoDAsync_v2, (address to, address from, size_t bytes, void *stream), (to, from, bytes, stream), DEVICE_TO_DEVICE, stream)

static struct block begin_of(const struct side *side, word width) {
    word base = side->type == ON_HOST ? AS_WORD(side->host) : side->device, pitch = side->pitch ? side->pitch : width;
    word slice = pitch * (side->height ? side->height : 1);
    return (struct block){base + side->x + side->y * pitch + side->z * slice, pitch, slice};
}

static status noted_blocks(status outcome, const struct side *from, const struct side *to, word width, word rows, word slices,
                           void *stream) {
    int unified = from->type == UNIFIED || to->type == UNIFIED, from_host = from->type == ON_HOST, to_host = to->type == ON_HOST;
    if (from->type == IN_ARRAY || to->type == IN_ARRAY) return unrecorded("a copy of an array for textures"), outcome;
    int kind = unified ? DEFAULT_KIND : from_host ? (to_host ? HOST_TO_HOST : HOST_TO_DEVICE) : to_host ? DEVICE_TO_HOST : DEVICE_TO_DEVICE;
    return noted_copy(outcome, begin_of(to, width), begin_of(from, width), width, rows, slices, kind, stream);
}
static status noted_flat(status outcome, const struct flat_copy *how, void *stream) {
    struct side from = of_flat(&how->from), to = of_flat(&how->to);
    return noted_blocks(outcome, &from, &to, how->width, how->height, 1, stream);
}
static status noted_deep(status outcome, const struct deep_copy *how, void *stream) {
    return noted_blocks(outcome, &how->from, &how->to, how->width, how->height, how->depth, stream);
}
API status cuMemcpy2D_v2(const struct flat_copy *how) { return IN_TURN(noted_flat(REAL(cuMemcpy2D_v2)(how), how, NULL)); }
API status cuMemcpy2DUnaligned_v2(const struct flat_copy *how) {
    return IN_TURN(noted_flat(REAL(cuMemcpy2DUnaligned_v2)(how), how, NULL));
}
API status cuMemcpy2DAsync_v2(const struct flat_copy *how, void *stream) {
    return IN_TURN(noted_flat(REAL(cuMemcpy2DAsync_v2)(how, stream), how, stream));
}
API status cuMemcpy3D_v2(const struct deep_copy *how) { return IN_TURN(noted_deep(REAL(cuMemcpy3D_v2)(how), how, NULL)); }
API status cuMemcpy3DAsync_v2(const struct deep_copy *how, void *stream) {
    return IN_TURN(noted_deep(REAL(cuMemcpy3DAsync_v2)(how, stream), how, stream));
}

/* Elements of more than a byte are noted as what was written, unless all their bytes are equal. */
static status noted_fill(status outcome, address to, size_t pitch, unsigned value, unsigned bytes, size_t width, size_t rows, void *stream) {
    unsigned char first = value & 0xFF;
    word row = width * bytes;
    if (outcome || !width || !rows || is_captured(stream)) return outcome;
    finish_all();
    if (rows == 1) pitch = row;
    if (bytes == 1 || !memcmp(&value, &(unsigned){first * 0x01010101u}, bytes)) {
        ASK(FILL, NULL, to, pitch, pitch * rows, row, rows, 1, first);
        return outcome;
    }
    char *pattern = malloc(row);
    for (word at = 0; at < row; at += bytes) memcpy(pattern + at, &value, bytes);
    tell_block(WROTE, to, pitch, pitch * rows, pattern, 0, 0, row, rows, 1);
    free(pattern);
    return outcome;
}
#define FILLS(name, type, bytes) \
    API status cuMemset##name##_v2(address to, type value, size_t count) { \
        return IN_TURN(noted_fill(REAL(cuMemset##name##_v2)(to, value, count), to, 0, value, bytes, count, 1, NULL)); \
    } \
    API status cuMemset##name##Async(address to, type value, size_t count, void *stream) { \
        return IN_TURN(noted_fill(REAL(cuMemset##name##Async)(to, value, count, stream), to, 0, value, bytes, count, 1, stream)); \
    }
#define FILLS_ROWS(name, type, bytes) \
    API status cuMemset##name##_v2(address to, size_t pitch, type value, size_t width, size_t rows) { \
        return IN_TURN(noted_fill(REAL(cuMemset##name##_v2)(to, pitch, value, width, rows), to, pitch, value, bytes, width, rows, NULL)); \
    } \
    API status cuMemset##name##Async(address to, size_t pitch, type value, size_t width, size_t rows, void *stream) { \
        return IN_TURN(noted_fill(REAL(cuMemset##name##Async)(to, pitch, value, width, rows, stream), to, pitch, value, bytes, width, rows, \
                                  stream)); \
    }
FILLS(D8, unsigned char, 1)
FILLS(D16, unsigned short, 2)
FILLS(D32, unsigned, 4)
FILLS_ROWS(D2D8, unsigned char, 1)
FILLS_ROWS(D2D16, unsigned short, 2)
FILLS_ROWS(D2D32, unsigned, 4)

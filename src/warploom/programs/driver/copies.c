/* Copies and fills in all the forms that programs write them. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "copies.h"

/* Whether an address is the device's or the host's follows from it, except for what programs say of it. */
static status plain(word to, word from, size_t bytes, int kind) {
    status outcome = in_context();
    return outcome ? outcome : checked(transfer(to, bytes, bytes, from, bytes, bytes, bytes, 1, 1, kind));
}

API status cuMemcpy(address to, address from, size_t bytes) { return plain(to, from, bytes, DEFAULT_KIND); }
API status cuMemcpyAsync(address to, address from, size_t bytes, void *stream) { return IN_STREAM(stream, cuMemcpy(to, from, bytes)); }
API status cuMemcpyHtoD_v2(address to, const void *from, size_t bytes) { return plain(to, AS_WORD(from), bytes, HOST_TO_DEVICE); }
API status cuMemcpyDtoH_v2(void *to, address from, size_t bytes) { return plain(AS_WORD(to), from, bytes, DEVICE_TO_HOST); }
API status cuMemcpyDtoD_v2(address to, address from, size_t bytes) { return plain(to, from, bytes, DEVICE_TO_DEVICE); }
API status cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *stream) {
    return IN_STREAM(stream, cuMemcpyHtoD_v2(to, from, bytes));
}
API status cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *stream) {
    return IN_STREAM(stream, cuMemcpyDtoH_v2(to, from, bytes));
}
API status cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void *stream) {
    return IN_STREAM(stream, cuMemcpyDtoD_v2(to, from, bytes));
}
API status cuMemcpyPeer(address to, void *to_context, address from, void *from_context, size_t bytes) {
    return (void)to_context, (void)from_context, cuMemcpyDtoD_v2(to, from, bytes);
}
API status cuMemcpyPeerAsync(address to, void *to_context, address from, void *from_context, size_t bytes, void *stream) {
    return IN_STREAM(stream, cuMemcpyPeer(to, to_context, from, from_context, bytes));
}

static void place(const struct side *side, word *start, word *pitch, word *slice) {
    word base = side->type == ON_HOST ? AS_WORD(side->host) : side->device;
    *pitch = side->pitch;
    *slice = side->pitch * side->height;
    if (side->type == IN_ARRAY) {
        base = side->array->address;
        *pitch = side->array->texel * side->array->size.width;
        *slice = *pitch * (side->array->size.height ? side->array->size.height : 1);
    }
    *start = base + side->x + side->y * *pitch + side->z * *slice;
}

static status blocks(const struct side *from, const struct side *to, size_t width, size_t height, size_t depth) {
    word start, pitch, slice, target, target_pitch, target_slice;
    status outcome = in_context();
    if (outcome) return outcome;
    int from_host = from->type == ON_HOST, to_host = to->type == ON_HOST;
    int unified = from->type == UNIFIED || to->type == UNIFIED;
    int kind = unified ? DEFAULT_KIND : from_host ? (to_host ? HOST_TO_HOST : HOST_TO_DEVICE) : to_host ? DEVICE_TO_HOST : DEVICE_TO_DEVICE;
    place(from, &start, &pitch, &slice);
    place(to, &target, &target_pitch, &target_slice);
    return checked(transfer(target, target_pitch, target_slice, start, pitch, slice, width, height, depth, kind));
}

API status cuMemcpy2D_v2(const struct flat_copy *how) {
    struct side from = of_flat(&how->from), to = of_flat(&how->to);
    if (!from.pitch) from.pitch = how->width;
    if (!to.pitch) to.pitch = how->width;
    return blocks(&from, &to, how->width, how->height, 1);
}
API status cuMemcpy2DUnaligned_v2(const struct flat_copy *how) { return cuMemcpy2D_v2(how); }
API status cuMemcpy2DAsync_v2(const struct flat_copy *how, void *stream) { return IN_STREAM(stream, cuMemcpy2D_v2(how)); }
API status cuMemcpy3D_v2(const void *described) {
    const struct deep_copy *how = described;
    return blocks(&how->from, &how->to, how->width, how->height, how->depth);
}
API status cuMemcpy3DAsync_v2(const struct deep_copy *how, void *stream) { return IN_STREAM(stream, cuMemcpy3D_v2(how)); }

/* Elements of more than a byte are written as a copy of a row of them, unless all their bytes are equal. */
static status fill(address to, size_t pitch, unsigned value, unsigned bytes, size_t width, size_t rows) {
    enum { PIECE = 1 << 20 };
    status outcome = in_context();
    unsigned char first = value & 0xFF;
    if (outcome || !width || !rows) return outcome;
    if (bytes == 1 || !memcmp(&value, &(unsigned){first * 0x01010101u}, bytes))
        return checked(fill_bytes(to, pitch, pitch * rows, first, width * bytes, rows, 1));
    word row_bytes = width * bytes, piece = row_bytes < PIECE ? row_bytes : PIECE;
    char *pattern = malloc(piece);
    for (word at = 0; at < piece; at += bytes) memcpy(pattern + at, &value, bytes);
    for (size_t row = 0; row < rows; row++)
        for (word at = 0; !outcome && at < row_bytes; at += piece) {
            word part = row_bytes - at < piece ? row_bytes - at : piece;
            outcome = plain(to + row * pitch + at, AS_WORD(pattern), part, HOST_TO_DEVICE);
        }
    if (!noted_in()) free(pattern); /* a graph reads it whenever it is launched */
    return outcome;
}

API status cuMemsetD8_v2(address to, unsigned char value, size_t count) { return fill(to, count, value, 1, count, 1); }
API status cuMemsetD16_v2(address to, unsigned short value, size_t count) { return fill(to, 2 * count, value, 2, count, 1); }
API status cuMemsetD32_v2(address to, unsigned value, size_t count) { return fill(to, 4 * count, value, 4, count, 1); }
API status cuMemsetD8Async(address to, unsigned char value, size_t count, void *stream) {
    return IN_STREAM(stream, cuMemsetD8_v2(to, value, count));
}
API status cuMemsetD16Async(address to, unsigned short value, size_t count, void *stream) {
    return IN_STREAM(stream, cuMemsetD16_v2(to, value, count));
}
API status cuMemsetD32Async(address to, unsigned value, size_t count, void *stream) {
    return IN_STREAM(stream, cuMemsetD32_v2(to, value, count));
}
API status cuMemsetD2D8_v2(address to, size_t pitch, unsigned char value, size_t width, size_t height) {
    return fill(to, pitch, value, 1, width, height);
}
API status cuMemsetD2D16_v2(address to, size_t pitch, unsigned short value, size_t width, size_t height) {
    return fill(to, pitch, value, 2, width, height);
}
API status cuMemsetD2D32_v2(address to, size_t pitch, unsigned value, size_t width, size_t height) {
    return fill(to, pitch, value, 4, width, height);
}
API status cuMemsetD2D8Async(address to, size_t pitch, unsigned char value, size_t width, size_t height, void *stream) {
    return IN_STREAM(stream, cuMemsetD2D8_v2(to, pitch, value, width, height));
}
API status cuMemsetD2D16Async(address to, size_t pitch, unsigned short value, size_t width, size_t height, void *stream) {
    return IN_STREAM(stream, cuMemsetD2D16_v2(to, pitch, value, width, height));
}
API status cuMemsetD2D32Async(address to, size_t pitch, unsigned value, size_t width, size_t height, void *stream) {
    return IN_STREAM(stream, cuMemsetD2D32_v2(to, pitch, value, width, height));
}

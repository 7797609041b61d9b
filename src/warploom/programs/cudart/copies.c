/* Copies and fills in all the forms that programs write them. */
#include <string.h>

#include "warploom.h"

status copy(word to, word to_pitch, word to_slice, word from, word from_pitch, word from_slice, word width, word rows, word slices,
            int kind) {
    return noted(transfer(to, to_pitch, to_slice, from, from_pitch, from_slice, width, rows, slices, kind));
}

static status plain(void *to, const void *from, size_t bytes, int kind) {
    return copy(AS_WORD(to), bytes, bytes, AS_WORD(from), bytes, bytes, bytes, 1, 1, kind);
}

static status flat(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, int kind) {
    return copy(AS_WORD(to), to_pitch, to_pitch * rows, AS_WORD(from), from_pitch, from_pitch * rows, width, rows, 1, kind);
}

API status cudaMemcpy(void *to, const void *from, size_t bytes, int kind) { return plain(to, from, bytes, kind); }
API status cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
    return IN_STREAM(stream, plain(to, from, bytes, kind));
}
API status cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    return to_device || from_device ? noted(INVALID_DEVICE) : plain(to, from, bytes, DEVICE_TO_DEVICE);
}
API status cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, int kind) {
    return flat(to, to_pitch, from, from_pitch, width, rows, kind);
}
API status cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, int kind,
                             void *stream) {
    return IN_STREAM(stream, flat(to, to_pitch, from, from_pitch, width, rows, kind));
}

API status cudaMemcpyToSymbol(const void *host, const void *from, size_t bytes, size_t offset, int kind) {
    word address, size;
    status outcome = symbol(host, &address, &size);
    if (!outcome && offset + bytes > size) outcome = INVALID_VALUE;
    return outcome ? noted(outcome) : plain(AS_POINTER(address + offset), from, bytes, kind);
}
API status cudaMemcpyFromSymbol(void *to, const void *host, size_t bytes, size_t offset, int kind) {
    word address, size;
    status outcome = symbol(host, &address, &size);
    if (!outcome && offset + bytes > size) outcome = INVALID_VALUE;
    return outcome ? noted(outcome) : plain(to, AS_POINTER(address + offset), bytes, kind);
}
API status cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t bytes, size_t offset, int kind, void *stream) {
    return IN_STREAM(stream, cudaMemcpyToSymbol(host, from, bytes, offset, kind));
}
API status cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t bytes, size_t offset, int kind, void *stream) {
    return IN_STREAM(stream, cudaMemcpyFromSymbol(to, host, bytes, offset, kind));
}

static word row_bytes(const struct array *array) { return array->texel * array->size.width; }
static word place(const struct array *array, size_t x_bytes, size_t y, size_t z) {
    word rows = array->size.height ? array->size.height : 1;
    return array->address + (z * rows + y) * row_bytes(array) + x_bytes;
}

API status cudaMemcpy2DToArray(struct array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t rows,
                               int kind) {
    return copy(place(to, x, y, 0), row_bytes(to), 0, AS_WORD(from), pitch, 0, width, rows, 1, kind);
}
API status cudaMemcpy2DToArrayAsync(struct array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t rows,
                                    int kind, void *stream) {
    return IN_STREAM(stream, cudaMemcpy2DToArray(to, x, y, from, pitch, width, rows, kind));
}
API status cudaMemcpy2DFromArray(void *to, size_t pitch, const struct array *from, size_t x, size_t y, size_t width, size_t rows,
                                 int kind) {
    return copy(AS_WORD(to), pitch, 0, place(from, x, y, 0), row_bytes(from), 0, width, rows, 1, kind);
}
API status cudaMemcpyToArray(struct array *to, size_t x, size_t y, const void *from, size_t bytes, int kind) {
    return plain(AS_POINTER(place(to, x, y, 0)), from, bytes, kind);
}
API status cudaMemcpyFromArray(void *to, const struct array *from, size_t x, size_t y, size_t bytes, int kind) {
    return plain(to, AS_POINTER(place(from, x, y, 0)), bytes, kind);
}
API status cudaMemcpy2DArrayToArray(struct array *to, size_t to_x, size_t to_y, const struct array *from, size_t from_x, size_t from_y,
                                    size_t width, size_t rows, int kind) {
    return copy(place(to, to_x, to_y, 0), row_bytes(to), 0, place(from, from_x, from_y, 0), row_bytes(from), 0, width, rows, 1, kind);
}

struct copy_3d {
    struct array *from_array;
    position from_at;
    pitched from;
    struct array *to_array;
    position to_at;
    pitched to;
    extent size;
    int kind;
};

/* Extents count texels where an array takes part, bytes otherwise. */
API status cudaMemcpy3D(const struct copy_3d *how) {
    size_t texel = how->to_array ? how->to_array->texel : how->from_array ? how->from_array->texel : 1;
    word to, to_pitch, to_slice, from, from_pitch, from_slice;
    if (how->to_array) {
        to = place(how->to_array, how->to_at.x * texel, how->to_at.y, how->to_at.z);
        to_pitch = row_bytes(how->to_array);
        to_slice = to_pitch * (how->to_array->size.height ? how->to_array->size.height : 1);
    } else {
        to_pitch = how->to.pitch;
        to_slice = to_pitch * how->to.height;
        to = AS_WORD(how->to.pointer) + how->to_at.x + how->to_at.y * to_pitch + how->to_at.z * to_slice;
    }
    if (how->from_array) {
        from = place(how->from_array, how->from_at.x * texel, how->from_at.y, how->from_at.z);
        from_pitch = row_bytes(how->from_array);
        from_slice = from_pitch * (how->from_array->size.height ? how->from_array->size.height : 1);
    } else {
        from_pitch = how->from.pitch;
        from_slice = from_pitch * how->from.height;
        from = AS_WORD(how->from.pointer) + how->from_at.x + how->from_at.y * from_pitch + how->from_at.z * from_slice;
    }
    return copy(to, to_pitch, to_slice, from, from_pitch, from_slice, how->size.width * texel, how->size.height, how->size.depth,
                how->kind);
}
API status cudaMemcpy3DAsync(const struct copy_3d *how, void *stream) { return IN_STREAM(stream, cudaMemcpy3D(how)); }

static status fill(void *to, size_t pitch, size_t slice, int byte, size_t width, size_t rows, size_t slices) {
    return noted(fill_bytes(AS_WORD(to), pitch, slice, byte, width, rows, slices));
}

API status cudaMemset(void *to, int byte, size_t bytes) { return fill(to, bytes, bytes, byte, bytes, 1, 1); }
API status cudaMemsetAsync(void *to, int byte, size_t bytes, void *stream) { return IN_STREAM(stream, cudaMemset(to, byte, bytes)); }
API status cudaMemset2D(void *to, size_t pitch, int byte, size_t width, size_t rows) {
    return fill(to, pitch, pitch * rows, byte, width, rows, 1);
}
API status cudaMemset2DAsync(void *to, size_t pitch, int byte, size_t width, size_t rows, void *stream) {
    return IN_STREAM(stream, cudaMemset2D(to, pitch, byte, width, rows));
}
API status cudaMemset3D(pitched to, int byte, extent size) {
    return fill(to.pointer, to.pitch, to.pitch * to.height, byte, size.width, size.height, size.depth);
}
API status cudaMemset3DAsync(pitched to, int byte, extent size, void *stream) { return IN_STREAM(stream, cudaMemset3D(to, byte, size)); }

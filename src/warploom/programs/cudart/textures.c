/* Texture objects over arrays and linear memory, surface objects over arrays. */
#include <string.h>

#include "warploom.h"

struct resource {
    int kind;
    union {
        struct array *array;
        struct { void *address; channels format; size_t bytes; } linear;
        struct { void *address; channels format; size_t width, height, pitch; } pitched;
        int reserved[32];
    } of;
};
struct sampling { int address_mode[3], filter, read, srgb; float border[4]; int normalized; };
enum { ARRAY, MIPMAPPED, LINEAR, PITCHED };
enum { CLAMP = 1, NORMALIZED = 1 << 6, LAYERED = 1 << 7, SRGB = 1 << 16, COLOURED = 1 << 17 }; /* how it is read */
enum { LAYERED_ARRAY = 1 };           /* a flag of arrays */

static word bits_of(const channels *format) {
    word bits = 0;
    for (int i = 0; i < 4; i++) bits |= (word)(unsigned char)format->bits[i] << 8 * i;
    return bits;
}

/* One word. The addressing of the second and third dimension is told by how it differs from that of the first. */
static word mode_of(const struct sampling *how) {
    const int *each = how->address_mode;
    word mode = each[0] | how->filter << 4 | how->read << 5 | (how->normalized ? NORMALIZED : 0) | (how->srgb ? SRGB : 0);
    for (int i = 0; i < 4; i++)
        if (how->border[i] != 0) mode |= COLOURED;
    return mode | (word)(each[0] ^ each[1]) << 8 | (word)(each[0] ^ each[2]) << 12;
}

static status object_over(const struct array *array, word mode, uint64_t *object) {
    word answer[ANSWER_WORDS];
    if (array->flags & LAYERED_ARRAY) mode |= LAYERED;
    status outcome = ASK(TEXTURE, answer, array->address, array->size.width, array->size.height, array->size.depth,
                         array->size.width * array->texel, bits_of(&array->format), array->format.kind, mode);
    if (!outcome) *object = answer[0];
    return noted(outcome);
}

API status cudaCreateTextureObject(uint64_t *texture, const struct resource *from, const struct sampling *how, const void *view) {
    word address, width, height = 0, pitch, texel, answer[ANSWER_WORDS];
    const channels *format;
    if (view || from->kind == MIPMAPPED) return noted(NOT_SUPPORTED);
    word mode = mode_of(how);
    if (from->kind == ARRAY) return object_over(from->of.array, mode, texture);
    if (from->kind == LINEAR) {
        format = &from->of.linear.format;
        texel = (format->bits[0] + format->bits[1] + format->bits[2] + format->bits[3]) / 8;
        address = AS_WORD(from->of.linear.address);
        width = texel ? from->of.linear.bytes / texel : 0;
        pitch = width * texel;
    } else {
        format = &from->of.pitched.format;
        address = AS_WORD(from->of.pitched.address);
        width = from->of.pitched.width;
        height = from->of.pitched.height;
        pitch = from->of.pitched.pitch;
    }
    status outcome = ASK(TEXTURE, answer, address, width, height, 0, pitch, bits_of(format), format->kind, mode);
    if (!outcome) *texture = answer[0];
    return noted(outcome);
}

API status cudaDestroyTextureObject(uint64_t texture) { return texture ? noted(ASK(NO_TEXTURE, NULL, texture)) : SUCCESS; }

/* A surface is a texture that is read and written without filtering. */
API status cudaCreateSurfaceObject(uint64_t *surface, const struct resource *from) {
    return from->kind == ARRAY ? object_over(from->of.array, CLAMP, surface) : noted(INVALID_VALUE);
}

API status cudaDestroySurfaceObject(uint64_t surface) { return cudaDestroyTextureObject(surface); }

/* Texture objects over arrays and linear memory. */
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

API status cudaCreateTextureObject(uint64_t *texture, const struct resource *from, const struct sampling *how, const void *view) {
    word address, width, height = 0, depth = 0, pitch, texel, answer[ANSWER_WORDS];
    const channels *format;
    if (view || from->kind == MIPMAPPED) return noted(NOT_SUPPORTED);
    if (from->kind == ARRAY) {
        const struct array *array = from->of.array;
        address = array->address;
        width = array->size.width;
        height = array->size.height;
        depth = array->size.depth;
        pitch = width * array->texel;
        format = &array->format;
    } else if (from->kind == LINEAR) {
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
    word bits = 0, mode = 0;
    for (int i = 0; i < 4; i++) bits |= (word)(unsigned char)format->bits[i] << 8 * i;
    mode = how->address_mode[0] | how->filter << 4 | how->read << 5 | (how->normalized != 0) << 6;
    status outcome = ASK(TEXTURE, answer, address, width, height, depth, pitch, bits, format->kind, mode);
    if (!outcome) *texture = answer[0];
    return noted(outcome);
}

API status cudaDestroyTextureObject(uint64_t texture) { return texture ? noted(ASK(NO_TEXTURE, NULL, texture)) : SUCCESS; }

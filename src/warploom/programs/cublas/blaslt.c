/* The part of cuBLASLt's public interface that is here: products with a bias and an activation, described piece by piece. */
#include <stdlib.h>
#include <string.h>

#include "gemm.h"

enum { BY_COLUMNS, BY_ROWS };
struct layout { int32_t type, order; uint64_t rows, columns; int64_t pitch, step; int32_t batches, refused; };
struct description { int32_t compute, scale, where, turn_a, turn_b, epilogue, bias_type, refused; const void *bias; int64_t bias_step; };
struct preference { uint64_t values[4]; };
struct algorithm { uint64_t data[8]; };
struct heuristic { struct algorithm algorithm; size_t workspace; status state; float waves; int reserved[4]; };

enum { NO_TYPE = -1, OPERATION_NONE = 0 };
enum { EPILOGUE_NONE = 1, EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4, EPILOGUE_GELU = 32 };

API status cublasLtCreate(void **handle) { return *handle = calloc(1, 8), BLAS_SUCCESS; }
API status cublasLtDestroy(void *handle) { return free(handle), BLAS_SUCCESS; }
API size_t cublasLtGetVersion(void) { return BLAS_VERSION; }
API size_t cublasLtGetCudartVersion(void) { return BLAS_VERSION / 10; }
API status cublasLtGetProperty(int which, int *value) {
    if (which < 0 || which > 2) return BLAS_INVALID_VALUE;
    return *value = which ? 0 : BLAS_VERSION / 10000, BLAS_SUCCESS;
}

/* An attribute that is kept; its size is the field's. */
#define FIELD(number, field) case number: return accessed(&object->field, sizeof object->field, value, bytes)
static status put(void *field, size_t room, const void *value, size_t bytes) {
    return bytes == room ? memcpy(field, value, bytes), BLAS_SUCCESS : BLAS_INVALID_VALUE;
}
static status get(const void *field, size_t room, void *value, size_t bytes) {
    return bytes >= room ? memcpy(value, field, room), BLAS_SUCCESS : BLAS_INVALID_VALUE;
}
#define FIELDS(name, type, list) \
    static status put_##name(type *object, int number, const void *value, size_t bytes, status otherwise) { \
        status (*accessed)(void *, size_t, const void *, size_t) = put; \
        switch (number) { list } \
        return otherwise; \
    } \
    static status get_##name(const type *object, int number, void *value, size_t bytes, size_t *written) { \
        status (*accessed)(const void *, size_t, void *, size_t) = get; \
        if (written) *written = bytes; \
        switch (number) { list } \
        return BLAS_INVALID_VALUE; \
    }

FIELDS(layout, struct layout, FIELD(0, type); FIELD(1, order); FIELD(2, rows); FIELD(3, columns); FIELD(4, pitch); FIELD(5, batches); FIELD(6, step);)
FIELDS(description, struct description, FIELD(0, compute); FIELD(1, scale); FIELD(2, where); FIELD(3, turn_a); FIELD(4, turn_b); FIELD(7, epilogue);
       FIELD(8, bias); FIELD(10, bias_step); FIELD(26, bias_type);)

static int all_zero(const unsigned char *value, size_t bytes) {
    while (bytes && !value[bytes - 1]) bytes--;
    return !bytes;
}

API status cublasLtMatrixLayoutInit_internal(struct layout *layout, size_t bytes, int type, uint64_t rows, uint64_t columns, int64_t pitch) {
    if (bytes < sizeof *layout) return BLAS_INVALID_VALUE;
    return *layout = (struct layout){type, BY_COLUMNS, rows, columns, pitch, 0, 1, 0}, BLAS_SUCCESS;
}
API status cublasLtMatrixLayoutCreate(struct layout **layout, int type, uint64_t rows, uint64_t columns, int64_t pitch) {
    *layout = malloc(sizeof **layout);
    return cublasLtMatrixLayoutInit_internal(*layout, sizeof **layout, type, rows, columns, pitch);
}
API status cublasLtMatrixLayoutDestroy(struct layout *layout) { return free(layout), BLAS_SUCCESS; }
API status cublasLtMatrixLayoutSetAttribute(struct layout *layout, int number, const void *value, size_t bytes) {
    if (!layout || !value) return BLAS_INVALID_VALUE;
    status outcome = put_layout(layout, number, value, bytes, BLAS_NOT_SUPPORTED);
    if (outcome == BLAS_NOT_SUPPORTED) layout->refused |= !all_zero(value, bytes);
    return outcome == BLAS_NOT_SUPPORTED ? BLAS_SUCCESS : outcome; /* the product says so */
}
API status cublasLtMatrixLayoutGetAttribute(const struct layout *layout, int number, void *value, size_t bytes, size_t *written) {
    return layout && value ? get_layout(layout, number, value, bytes, written) : BLAS_INVALID_VALUE;
}

API status cublasLtMatmulDescInit_internal(struct description *description, size_t bytes, int compute, int scale) {
    if (bytes < sizeof *description) return BLAS_INVALID_VALUE;
    return *description = (struct description){compute, scale, .epilogue = EPILOGUE_NONE, .bias_type = NO_TYPE}, BLAS_SUCCESS;
}
API status cublasLtMatmulDescCreate(struct description **description, int compute, int scale) {
    *description = malloc(sizeof **description);
    return cublasLtMatmulDescInit_internal(*description, sizeof **description, compute, scale);
}
API status cublasLtMatmulDescDestroy(struct description *description) { return free(description), BLAS_SUCCESS; }
API status cublasLtMatmulDescSetAttribute(struct description *description, int number, const void *value, size_t bytes) {
    enum { SM_TARGET = 15, FAST_SUMS = 25 };
    if (!description || !value) return BLAS_INVALID_VALUE;
    status outcome = put_description(description, number, value, bytes, BLAS_NOT_SUPPORTED);
    if (outcome != BLAS_NOT_SUPPORTED) return outcome;
    description->refused |= number != SM_TARGET && number != FAST_SUMS && !all_zero(value, bytes);
    return BLAS_SUCCESS;
}
API status cublasLtMatmulDescGetAttribute(const struct description *description, int number, void *value, size_t bytes, size_t *written) {
    return description && value ? get_description(description, number, value, bytes, written) : BLAS_INVALID_VALUE;
}

/* What may be asked of the choice between kernels: there is one. */
API status cublasLtMatmulPreferenceInit_internal(struct preference *preference, size_t bytes) {
    if (bytes < sizeof *preference) return BLAS_INVALID_VALUE;
    return memset(preference, 0, sizeof *preference), BLAS_SUCCESS;
}
API status cublasLtMatmulPreferenceCreate(struct preference **preference) {
    return *preference = calloc(1, sizeof **preference), BLAS_SUCCESS;
}
API status cublasLtMatmulPreferenceDestroy(struct preference *preference) { return free(preference), BLAS_SUCCESS; }
API status cublasLtMatmulPreferenceSetAttribute(struct preference *preference, int number, const void *value, size_t bytes) {
    return (void)number, (void)bytes, preference && value ? BLAS_SUCCESS : BLAS_INVALID_VALUE;
}

static const char *refusal(const struct description *d, const struct layout *a, const struct layout *b, const struct layout *c,
                           const struct layout *out) {
    int biased = d->epilogue & EPILOGUE_BIAS;
    if (d->refused || d->where > 1 || (d->epilogue & ~(EPILOGUE_NONE | EPILOGUE_RELU | EPILOGUE_BIAS | EPILOGUE_GELU)))
        return "with scales, an auxiliary output or a gradient in its epilogue";
    if (a->refused || b->refused || c->refused || out->refused || out->order != BY_COLUMNS || c->order != BY_COLUMNS || a->order > BY_ROWS ||
        b->order > BY_ROWS)
        return "for these layouts of matrices";
    if (biased && d->bias_type != NO_TYPE && d->bias_type != a->type) return "with a bias of another type";
    if (biased && out->type != a->type) return "with a bias and a result of another type";
    int known = a->type == TYPE_F32 || a->type == TYPE_F64 || a->type == TYPE_F16 || a->type == TYPE_BF16;
    return known && a->type == b->type && c->type == out->type && (out->type == a->type || out->type == TYPE_F32)
               ? NULL
               : "for these types of matrices";
}

API status cublasLtMatmulAlgoCheck(void *handle, const struct description *d, const struct layout *a, const struct layout *b,
                                   const struct layout *c, const struct layout *out, const struct algorithm *algorithm,
                                   struct heuristic *result) {
    (void)handle, (void)algorithm;
    *result = (struct heuristic){.waves = 1};
    return result->state = refusal(d, a, b, c, out) ? BLAS_NOT_SUPPORTED : BLAS_SUCCESS;
}
API status cublasLtMatmulAlgoGetHeuristic(void *handle, const struct description *d, const struct layout *a, const struct layout *b,
                                          const struct layout *c, const struct layout *out, const struct preference *preference, int room,
                                          struct heuristic *results, int *count) {
    (void)preference;
    if (room < 1 || !results || !count) return BLAS_INVALID_VALUE;
    const char *why = refusal(d, a, b, c, out);
    *count = !why;
    if (why) return UNSUPPORTED("cublasLtMatmul", why);
    return cublasLtMatmulAlgoCheck(handle, d, a, b, c, out, NULL, results);
}
API status cublasLtMatmulAlgoGetIds(void *handle, int compute, int scale, int a, int b, int c, int d, int room, int *ids, int *count) {
    (void)handle, (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (room < 1 || !ids || !count) return BLAS_INVALID_VALUE;
    return *ids = 0, *count = 1, BLAS_SUCCESS;
}
API status cublasLtMatmulAlgoInit(void *handle, int compute, int scale, int a, int b, int c, int d, int id, struct algorithm *algorithm) {
    (void)handle, (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    return id ? BLAS_INVALID_VALUE : (*algorithm = (struct algorithm){0}, BLAS_SUCCESS);
}
API status cublasLtMatmulAlgoConfigSetAttribute(struct algorithm *algorithm, int number, const void *value, size_t bytes) {
    return (void)number, (void)bytes, algorithm && value ? BLAS_SUCCESS : BLAS_INVALID_VALUE; /* hints */
}
API status cublasLtMatmulAlgoConfigGetAttribute(const struct algorithm *algorithm, int number, void *value, size_t bytes, size_t *written) {
    (void)number;
    if (!algorithm || !value) return BLAS_INVALID_VALUE;
    if (written) *written = bytes;
    return memset(value, 0, bytes), BLAS_SUCCESS;
}

static struct matrix matrix(const void *data, const struct layout *layout) {
    return (struct matrix){data, layout->type, layout->pitch, layout->step};
}

API status cublasLtMatmul(void *handle, const struct description *d, const void *alpha, const void *a, const struct layout *a_layout, const void *b,
                          const struct layout *b_layout, const void *beta, const void *c, const struct layout *c_layout, void *out,
                          const struct layout *out_layout, const struct algorithm *algorithm, void *space, size_t bytes, void *stream) {
    (void)handle, (void)algorithm, (void)space, (void)bytes;
    if (!d || !a_layout || !b_layout || !c_layout || !out_layout) return BLAS_INVALID_VALUE;
    const char *why = refusal(d, a_layout, b_layout, c_layout, out_layout);
    if (why) return UNSUPPORTED("cublasLtMatmul", why);
    int turned = d->turn_a != OPERATION_NONE;
    struct gemm gemm = {
        .m = out_layout->rows, .n = out_layout->columns, .k = turned ? a_layout->rows : a_layout->columns, .batches = out_layout->batches,
        .a_turned = turned ^ (a_layout->order == BY_ROWS), .b_turned = (d->turn_b != OPERATION_NONE) ^ (b_layout->order == BY_ROWS),
        .on_device = d->where, .compute = d->compute, .alpha = alpha, .beta = beta, .bias_step = d->bias_step,
        .bias = d->epilogue & EPILOGUE_BIAS ? d->bias : NULL, .a = matrix(a, a_layout), .b = matrix(b, b_layout),
        .addend = matrix(c, c_layout), .out = matrix(out, out_layout), .stream = stream};
    gemm.activation = d->epilogue & EPILOGUE_GELU ? PRODUCT_GELU : d->epilogue & EPILOGUE_RELU ? PRODUCT_RELU : PRODUCT_NO_ACTIVATION;
    return multiply("cublasLtMatmul", &gemm);
}

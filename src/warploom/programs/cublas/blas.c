/* The part of cuBLAS's public interface that is here: handles, products of matrices, with vectors, and of vectors. */
#include <stdlib.h>

#include "gemm.h"

enum { HOST, DEVICE }; /* where factors and results are */
struct handle { void *stream; int where, math, atomics, sms; };

static const struct { status code; const char *name, *words; } table[] = {
    {BLAS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {BLAS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {BLAS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed to the function"},
    {BLAS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"},
    {BLAS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality requested is not supported"},
};

API const char *cublasGetStatusName(status code) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code) return table[i].name;
    return "CUBLAS_STATUS_UNKNOWN";
}
API const char *cublasGetStatusString(status code) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code) return table[i].words;
    return "an unknown status";
}

API status cublasCreate_v2(struct handle **handle) {
    *handle = calloc(1, sizeof **handle);
    (*handle)->atomics = 1;
    return BLAS_SUCCESS;
}
API status cublasDestroy_v2(struct handle *handle) { return free(handle), BLAS_SUCCESS; }
API status cublasGetVersion_v2(struct handle *handle, int *version) { return (void)handle, *version = BLAS_VERSION, BLAS_SUCCESS; }
API status cublasGetProperty(int which, int *value) {
    if (which < 0 || which > 2) return BLAS_INVALID_VALUE;
    return *value = which ? 0 : BLAS_VERSION / 10000, BLAS_SUCCESS; /* major, minor, patch level */
}
API size_t cublasGetCudartVersion(void) { return BLAS_VERSION / 10; }

#define KEPT(what, type, field) \
    API status cublasSet##what(struct handle *handle, type value) { return handle ? handle->field = value, BLAS_SUCCESS : BLAS_NOT_INITIALIZED; } \
    API status cublasGet##what(struct handle *handle, type *value) { return handle ? *value = handle->field, BLAS_SUCCESS : BLAS_NOT_INITIALIZED; }
KEPT(Stream_v2, void *, stream)
KEPT(PointerMode_v2, int, where)
KEPT(MathMode, int, math) /* products of 32 bits are computed in 32 bits, whatever is allowed */
KEPT(AtomicsMode, int, atomics)
KEPT(SmCountTarget, int, sms)
API status cublasSetWorkspace_v2(struct handle *handle, void *space, size_t bytes) {
    return (void)space, (void)bytes, handle ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED; /* our kernels need none */
}

/* What all products have in common. */
#define SHAPE struct handle *handle, int turn_a, int turn_b, int m, int n, int k
#define BATCHED(count, list) \
    struct gemm gemm = {m, n, k, count, turn_a != 0, turn_b != 0, handle ? handle->where == DEVICE : 0, list}; \
    if (!handle) return BLAS_NOT_INITIALIZED; \
    gemm.stream = handle->stream
#define FACTORS(one, other) gemm.alpha = one, gemm.beta = other
#define MATRIX(which, at, kind, pitch, step) gemm.which = (struct matrix){at, kind, pitch, step}

static status finished(const char *caller, struct gemm *gemm, int compute) {
    gemm->compute = compute;
    gemm->addend = gemm->out;
    return multiply(caller, gemm);
}

static status strided(const char *caller, SHAPE, const void *alpha, const void *a, int a_type, int lda, long long a_step, const void *b,
                      int b_type, int ldb, long long b_step, const void *beta, void *c, int c_type, int ldc, long long c_step, int batches,
                      int compute) {
    BATCHED(batches, 0);
    FACTORS(alpha, beta);
    MATRIX(a, a, a_type, lda, a_step);
    MATRIX(b, b, b_type, ldb, b_step);
    MATRIX(out, c, c_type, ldc, c_step);
    return finished(caller, &gemm, compute);
}

static status alone(const char *caller, SHAPE, const void *alpha, const void *a, int a_type, int lda, const void *b, int b_type, int ldb,
                    const void *beta, void *c, int c_type, int ldc, int compute) {
    return strided(caller, handle, turn_a, turn_b, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb, 0, beta, c, c_type, ldc, 0, 1, compute);
}

static status listed(const char *caller, SHAPE, const void *alpha, const void *const *a, int a_type, int lda, const void *const *b, int b_type,
                     int ldb, const void *beta, void *const *c, int c_type, int ldc, int batches, int compute) {
    BATCHED(batches, 1);
    FACTORS(alpha, beta);
    MATRIX(a, a, a_type, lda, 0);
    MATRIX(b, b, b_type, ldb, 0);
    MATRIX(out, c, c_type, ldc, 0);
    return finished(caller, &gemm, compute);
}

API status cublasGemmStridedBatchedEx(SHAPE, const void *alpha, const void *a, int a_type, int lda, long long a_step, const void *b, int b_type,
                                      int ldb, long long b_step, const void *beta, void *c, int c_type, int ldc, long long c_step,
                                      int batches, int compute, int algorithm) {
    (void)algorithm;
    return strided("cublasGemmStridedBatchedEx", handle, turn_a, turn_b, m, n, k, alpha, a, a_type, lda, a_step, b, b_type, ldb, b_step, beta, c,
                   c_type, ldc, c_step, batches, compute);
}
API status cublasGemmBatchedEx(SHAPE, const void *alpha, const void *const *a, int a_type, int lda, const void *const *b, int b_type, int ldb,
                               const void *beta, void *const *c, int c_type, int ldc, int batches, int compute, int algorithm) {
    (void)algorithm;
    return listed("cublasGemmBatchedEx", handle, turn_a, turn_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, batches,
                  compute);
}
API status cublasGemmEx(SHAPE, const void *alpha, const void *a, int a_type, int lda, const void *b, int b_type, int ldb, const void *beta,
                        void *c, int c_type, int ldc, int compute, int algorithm) {
    (void)algorithm;
    return alone("cublasGemmEx", handle, turn_a, turn_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, compute);
}

enum { COMPUTE_32F = 68 };

API status cublasSgemmEx(SHAPE, const float *alpha, const void *a, int a_type, int lda, const void *b, int b_type, int ldb, const float *beta,
                         void *c, int c_type, int ldc) {
    return alone("cublasSgemmEx", handle, turn_a, turn_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, COMPUTE_32F);
}

/* The same for one type each, with vectors as matrices of one column. */
#define NAMED(name) #name
#define NAME_OF(name) NAMED(name)
#define ONE_TYPE(letter, type, number, compute) \
    API status cublas##letter##gemmStridedBatched(SHAPE, const type *alpha, const type *a, int lda, long long a_step, const type *b, int ldb, \
                                                  long long b_step, const type *beta, type *c, int ldc, long long c_step, int batches) { \
        return strided("cublas" #letter "gemmStridedBatched", handle, turn_a, turn_b, m, n, k, alpha, a, number, lda, a_step, b, number, ldb, \
                       b_step, beta, c, number, ldc, c_step, batches, compute); \
    } \
    API status cublas##letter##gemmBatched(SHAPE, const type *alpha, const type *const *a, int lda, const type *const *b, int ldb, \
                                           const type *beta, type *const *c, int ldc, int batches) { \
        return listed("cublas" #letter "gemmBatched", handle, turn_a, turn_b, m, n, k, alpha, (const void *const *)a, number, lda, \
                      (const void *const *)b, number, ldb, beta, (void *const *)c, number, ldc, batches, compute); \
    } \
    API status JOINED(letter, gemm)(SHAPE, const type *alpha, const type *a, int lda, const type *b, int ldb, const type *beta, type *c, \
                                    int ldc) { \
        return alone(NAME_OF(JOINED(letter, gemm)), handle, turn_a, turn_b, m, n, k, alpha, a, number, lda, b, number, ldb, beta, c, number, \
                     ldc, compute); \
    }

/* The transposed product, a row of results: its elements may lie apart. */
#define WITH_VECTORS(letter, type, number, compute) \
    API status cublas##letter##gemv_v2(struct handle *handle, int turned, int m, int n, const type *alpha, const type *a, int lda, \
                                       const type *x, int x_step, const type *beta, type *y, int y_step) { \
        int rows = turned ? n : m, between = turned ? m : n; \
        if (x_step < 0 || y_step < 0) return UNSUPPORTED("cublas" #letter "gemv_v2", "with vectors that run backwards"); \
        return alone("cublas" #letter "gemv_v2", handle, 0, !turned, 1, rows, between, alpha, x, number, x_step, a, number, lda, beta, y, \
                     number, y_step, compute); \
    } \
    API status cublas##letter##dot_v2(struct handle *handle, int n, const type *x, int x_step, const type *y, int y_step, type *result) { \
        return dot("cublas" #letter "dot_v2", handle, n, x, x_step, y, y_step, result, number, compute); \
    }

/* A result in host memory comes from the device's, which is here as well once the kernel has run. */
static status dot(const char *caller, struct handle *handle, int n, const void *x, int x_step, const void *y, int y_step, void *result, int type,
                  int compute) {
    static const double one = 1;
    static const float single_one = 1;
    word room = 0;
    if (!handle) return BLAS_NOT_INITIALIZED;
    if (x_step < 0 || y_step < 0) return UNSUPPORTED(caller, "with vectors that run backwards");
    int on_host = handle->where == HOST;
    if (on_host && allocate(sizeof one, PINNED_MEMORY, &room)) return BLAS_EXECUTION_FAILED;
    double nothing = 0;
    struct gemm gemm = {1, 1, n, 1, 0, 1, .alpha = type == TYPE_F64 ? (void *)&one : (void *)&single_one, .beta = &nothing};
    gemm.stream = handle->stream;
    MATRIX(a, x, type, x_step, 0);
    MATRIX(b, y, type, y_step, 0);
    gemm.b_turned = 1;
    MATRIX(out, on_host ? AS_POINTER(room) : result, type, 1, 0);
    status outcome = finished(caller, &gemm, compute);
    if (on_host) {
        if (!outcome && ASK(SYNCHRONIZE, NULL, 0)) outcome = BLAS_EXECUTION_FAILED;
        if (!outcome) __builtin_memcpy(result, AS_POINTER(room), type == TYPE_F64 ? 8 : type == TYPE_F32 ? 4 : 2);
        release(room, PINNED_MEMORY);
    }
    return outcome;
}

API status cublasDotEx(struct handle *handle, int n, const void *x, int x_type, int x_step, const void *y, int y_type, int y_step, void *result,
                       int type, int compute_type) {
    if (x_type != y_type || x_type != type || (compute_type != TYPE_F32 && compute_type != TYPE_F64))
        return UNSUPPORTED("cublasDotEx", "for these types of vectors");
    return dot("cublasDotEx", handle, n, x, x_step, y, y_step, result, type, compute_type == TYPE_F64 ? COMPUTE_64F : COMPUTE_32F);
}

#define JOINED(letter, name) cublas##letter##name##_v2
ONE_TYPE(S, float, TYPE_F32, COMPUTE_32F)
ONE_TYPE(D, double, TYPE_F64, COMPUTE_64F)
WITH_VECTORS(S, float, TYPE_F32, COMPUTE_32F)
WITH_VECTORS(D, double, TYPE_F64, COMPUTE_64F)
#undef JOINED
#define JOINED(letter, name) cublas##letter##name
ONE_TYPE(H, unsigned short, TYPE_F16, COMPUTE_16F)

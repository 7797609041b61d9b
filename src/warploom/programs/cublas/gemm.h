/* What both libraries of products share: matrices as BLAS has them, by columns, and the way to our kernels. */
#ifndef GEMM_H
#define GEMM_H

#include "product.h"
#include "warploom.h"

enum { BLAS_SUCCESS = 0, BLAS_NOT_INITIALIZED = 1, BLAS_INVALID_VALUE = 7, BLAS_EXECUTION_FAILED = 13, BLAS_NOT_SUPPORTED = 15 };
enum { BLAS_VERSION = 130000 };
enum { TYPE_F32 = 0, TYPE_F64 = 1, TYPE_F16 = 2, TYPE_BF16 = 14 }; /* cudaDataType */
enum { COMPUTE_16F = 64, COMPUTE_16F_PEDANTIC = 65, COMPUTE_64F = 70, COMPUTE_64F_PEDANTIC = 71, COMPUTE_32I = 72, COMPUTE_32I_PEDANTIC = 73 };

struct matrix { const void *data; int type; int64_t pitch, step; }; /* elements from a column, and from one of a batch, to the next */

/* out = activation(alpha op(a) op(b) + beta addend + bias): m x n, with k between them; factors on the device or in host memory. */
struct gemm {
    int64_t m, n, k, batches;
    int a_turned, b_turned, on_device, listed, activation, compute;
    const void *alpha, *beta, *bias;
    int64_t bias_step;
    struct matrix a, b, addend, out;
    void *stream;
};

status multiply(const char *caller, const struct gemm *gemm) SHARED(multiply);
status unsupported(const char *caller, const char *what, int *said) SHARED(unsupported); /* one sentence, once */

#define UNSUPPORTED(caller, what) ({ static int said; unsupported(caller, what, &said); })

#endif

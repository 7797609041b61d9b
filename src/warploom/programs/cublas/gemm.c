/* Which of our kernels computes a product, and its launch. The kernels are here as PTX, which is sent when one is needed first. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gemm.h"

#define PTX(name) \
    __asm__(".section .rodata\n.globl ptx_of_" #name "\n.hidden ptx_of_" #name "\nptx_of_" #name ": .incbin \"cublas/kernels/" #name \
            ".ptx\"\n.byte 0\n.previous\n"); \
    extern const char ptx_of_##name[]
PTX(f32);
PTX(f64);
PTX(f16);
PTX(bf16);

enum { SMALL_STAGES = 64 << 10, LARGE_STAGES = 96 << 10 }; /* bytes of shared memory that kernels for tensor cores fill in advance */
enum { TILES = 2, LAYOUTS = 4, SMALL = 64, LARGE = 128, MOST_BATCHES = 65535, SMS = 16 };

static struct family { const char *name; int bytes, tensors; struct image image; struct kernel *kernels[TILES][LAYOUTS]; } families[] = {
    [TYPE_F32] = {"f32", 4, 0, {ptx_of_f32}},
    [TYPE_F64] = {"f64", 8, 0, {ptx_of_f64}},
    [TYPE_F16] = {"f16", 2, 1, {ptx_of_f16}},
    [TYPE_BF16] = {"bf16", 2, 1, {ptx_of_bf16}},
};

status unsupported(const char *caller, const char *what, int *said) {
    if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "warploom: the program calls %s%s%s, which is not supported; it gets CUBLAS_STATUS_NOT_SUPPORTED\n", caller,
                *what ? " " : "", what);
    return BLAS_NOT_SUPPORTED;
}

static struct family *family_of(int type) {
    int known = type >= 0 && type < (int)(sizeof families / sizeof *families) && families[type].name;
    return known ? &families[type] : NULL;
}

static struct kernel *kernel_of(struct family *family, int large, const struct product *p) {
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    int layout = family->tensors ? 2 * p->left_by_k + p->right_by_k : 0;
    char name[64];
    pthread_mutex_lock(&making);
    struct kernel **kernel = &family->kernels[large][layout];
    if (!*kernel) {
        static const char *const layouts[] = {"_nn", "_nt", "_tn", "_tt"}, *const tiles[] = {"64x64", "128x128"};
        snprintf(name, sizeof name, "warploom_gemm_%s_%s%s", family->name, tiles[large], family->tensors ? layouts[layout] : "");
        *kernel = add_kernel(&family->image, NULL, name);
    }
    pthread_mutex_unlock(&making);
    return *kernel;
}

static int divides(int64_t unit, word address, int64_t pitch, int64_t step, int bytes) {
    return address % unit == 0 && pitch * bytes % unit == 0 && step * bytes % unit == 0;
}

static double single(unsigned bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Of 16 bits, of which five are an exponent. */
static double half(unsigned short bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent ? (1024 + fraction) * (1.0 / 1024) : fraction * (2.0 / 1024);
    for (; exponent > 15; exponent--) value *= 2;
    for (; exponent < 15; exponent++) value /= 2;
    return bits >> 15 ? -value : value;
}

static double factor(const struct gemm *gemm, const void *at) {
    if (gemm->compute == COMPUTE_64F || gemm->compute == COMPUTE_64F_PEDANTIC) return *(const double *)at;
    if (gemm->compute == COMPUTE_16F || gemm->compute == COMPUTE_16F_PEDANTIC) return half(*(const unsigned short *)at);
    return single(*(const unsigned *)at);
}

/* By columns here, by rows there: the result is the transposed product. */
static struct product described(const struct gemm *g, const struct family *family) {
    int bytes = family->bytes, single_out = family->tensors && g->out.type == TYPE_F32, out_bytes = single_out ? 4 : bytes;
    struct product p = {
        .left = AS_WORD(g->b.data), .right = AS_WORD(g->a.data), .addend = AS_WORD(g->addend.data), .out = AS_WORD(g->out.data),
        .bias = AS_WORD(g->bias), .left_step = g->b.step, .right_step = g->a.step, .addend_step = g->addend.step,
        .out_step = g->out.step, .bias_step = g->bias_step, .left_pitch = g->b.pitch, .right_pitch = g->a.pitch,
        .addend_pitch = g->addend.pitch, .out_pitch = g->out.pitch, .rows = g->n, .columns = g->m, .depth = g->k,
        .left_by_k = !g->b_turned, .right_by_k = g->a_turned, .listed = g->listed, .activation = g->activation, .single_out = single_out};
    int piece = 16 / bytes, left_side = p.left_by_k ? p.depth : p.rows, right_side = p.right_by_k ? p.depth : p.columns;
    p.left_wide = !g->listed && left_side % piece == 0 && divides(16, p.left, p.left_pitch, p.left_step, bytes);
    p.right_wide = !g->listed && right_side % piece == 0 && divides(16, p.right, p.right_pitch, p.right_step, bytes);
    p.out_wide = !g->listed && divides(out_bytes == 2 ? 8 : 16, p.out, p.out_pitch, p.out_step, out_bytes);
    if (g->on_device) {
        p.alpha_at = AS_WORD(g->alpha);
        p.beta_at = AS_WORD(g->beta);
    } else {
        p.alpha = factor(g, g->alpha);
        p.beta = factor(g, g->beta);
    }
    return p;
}

/* A grid has no more than so many layers: a longer batch is several launches. */
static status launch_batches(struct family *family, struct product p, int64_t batches, int large, int out_bytes, void *stream) {
    unsigned tile = large ? LARGE : SMALL, threads = family->tensors ? (large ? 256 : 128) : (large ? 256 : 128);
    word shared = family->tensors ? (large ? LARGE_STAGES : SMALL_STAGES) : 0;
    struct kernel *kernel = kernel_of(family, large, &p);
    for (int64_t done = 0; done < batches; done += MOST_BATCHES) {
        unsigned now = batches - done < MOST_BATCHES ? batches - done : MOST_BATCHES;
        struct product part = p;
        part.left += done * (p.listed ? 8 : p.left_step * family->bytes);
        part.right += done * (p.listed ? 8 : p.right_step * family->bytes);
        part.addend += done * (p.listed ? 8 : p.addend_step * out_bytes);
        part.out += done * (p.listed ? 8 : p.out_step * out_bytes);
        if (p.bias) part.bias += done * p.bias_step * family->bytes;
        struct shape shape = {{(p.columns + tile - 1) / tile, (p.rows + tile - 1) / tile, now}, {threads, 1, 1}, {0, 0, 0}, shared, stream, 0};
        void *arguments[] = {&part};
        status outcome = launch(kernel, &shape, arguments);
        if (outcome) return BLAS_EXECUTION_FAILED;
    }
    return BLAS_SUCCESS;
}

status multiply(const char *caller, const struct gemm *g) {
    struct family *family = g->a.type == g->b.type ? family_of(g->a.type) : NULL;
    int single_out = family && family->tensors && g->out.type == TYPE_F32, sms = 1;
    if (!family || (g->out.type != g->a.type && !single_out)) return UNSUPPORTED(caller, "for these types of matrices");
    if (g->compute == COMPUTE_32I || g->compute == COMPUTE_32I_PEDANTIC) return UNSUPPORTED(caller, "for sums of whole numbers");
    int sums_in_16 = g->compute == COMPUTE_16F || g->compute == COMPUTE_16F_PEDANTIC;
    if (g->on_device && sums_in_16) return UNSUPPORTED(caller, "with factors of 16 bits on the device");
    if (g->m < 0 || g->n < 0 || g->k < 0 || g->batches < 0 || g->m > INT32_MAX || g->n > INT32_MAX || g->k > INT32_MAX)
        return BLAS_INVALID_VALUE;
    if (!g->m || !g->n || !g->batches) return BLAS_SUCCESS;
    if (attribute(SMS, &sms)) return BLAS_NOT_INITIALIZED;
    int64_t tiles = (g->m + LARGE - 1) / LARGE * ((g->n + LARGE - 1) / LARGE) * g->batches;
    int large = tiles >= sms && g->m > SMALL && g->n > SMALL; /* where all SMs have one, and little of it hangs over */
    return launch_batches(family, described(g, family), g->batches, large, single_out ? 4 : family->bytes, g->stream);
}

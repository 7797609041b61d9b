/* A product of matrices as our kernels take it, on the device and in the library: batches of
   out[row][column] = activation(alpha * (sum over k of left[row][k] * right[k][column]) + beta * addend[row][column] + bias[column]).
   Rows of `out` are contiguous: where BLAS counts by columns, this is the transposed product. */
#ifndef PRODUCT_H
#define PRODUCT_H

enum { PRODUCT_NO_ACTIVATION, PRODUCT_RELU, PRODUCT_GELU };

struct product {
    unsigned long long left, right, addend, out, bias; /* addresses; of arrays of addresses, where `listed`; no bias: 0 */
    unsigned long long alpha_at, beta_at;              /* where the factors are on the device; 0: they are given here */
    double alpha, beta;
    long long left_step, right_step, addend_step, out_step, bias_step; /* elements from one of the batch to the next */
    long long left_pitch, right_pitch, addend_pitch, out_pitch;        /* elements from one row (or k) to the next */
    int rows, columns, depth;
    int left_by_k, right_by_k; /* whether neighbours along k are neighbours in memory, else those along the other side */
    int left_wide, right_wide, out_wide; /* whether all can be read in pieces of 16 bytes, and four neighbours written at once */
    int listed, activation, single_out; /* single_out: addend and out are 32 bits wide where the factors are 16 */
};

#endif

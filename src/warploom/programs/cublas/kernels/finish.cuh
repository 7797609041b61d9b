// What is done to the elements of a product before they are written, four neighbours in a row at a time.
__device__ __forceinline__ unsigned long long of_batch(unsigned long long base, long long step, int bytes, int listed) {
    return listed ? ((const unsigned long long *)base)[blockIdx.z] : base + blockIdx.z * step * bytes;
}

__device__ __forceinline__ float activated(float value, int activation) {
    if (activation == PRODUCT_RELU) return fmaxf(value, 0.0f);
    if (activation != PRODUCT_GELU) return value;
    float inner = 0.7978845608028654f * (value + 0.044715f * value * value * value);
    return value / (1.0f + __expf(-2.0f * inner)); // 0.5 (1 + tanh x) = 1 / (1 + exp(-2 x))
}

// IN is the type of the bias, OUT that of what is added and written, SUM that in which all is computed.
template <typename OUT, typename IN, typename SUM> struct finish {
    const product &p;
    const OUT *addend;
    const IN *bias;
    OUT *out;
    SUM alpha, beta;

    __device__ __forceinline__ finish(const product &p)
        : p(p), addend((const OUT *)of_batch(p.addend, p.addend_step, sizeof(OUT), p.listed)),
          bias((const IN *)p.bias + blockIdx.z * p.bias_step), out((OUT *)of_batch(p.out, p.out_step, sizeof(OUT), p.listed)),
          alpha(p.alpha_at ? *(const SUM *)p.alpha_at : (SUM)p.alpha), beta(p.beta_at ? *(const SUM *)p.beta_at : (SUM)p.beta) {}

    __device__ __forceinline__ void write(int row, int column, const SUM (&sums)[4]) const {
        if (row >= p.rows || column >= p.columns) return;
        int count = min(4, p.columns - column);
        __align__(16) OUT values[4];
        SUM results[4];
#pragma unroll
        for (int i = 0; i < 4; i++) results[i] = alpha * sums[i];
        if (beta != 0)
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (i < count) results[i] += beta * widened(addend[row * p.addend_pitch + column + i]);
        if (p.bias)
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (i < count) results[i] += widened(bias[column + i]);
        if (p.activation)
#pragma unroll
            for (int i = 0; i < 4; i++) results[i] = activated(results[i], p.activation);
#pragma unroll
        for (int i = 0; i < 4; i++) narrow(results[i], values[i]);
        OUT *at = out + row * p.out_pitch + column;
        if (count == 4 && p.out_wide) {
            if (sizeof(OUT) == 2) *(uint2 *)at = *(const uint2 *)values;
            else
#pragma unroll
                for (int part = 0; part < (int)sizeof(OUT) / 4; part++) ((uint4 *)at)[part] = ((const uint4 *)values)[part];
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (i < count) at[i] = values[i];
        }
    }
};

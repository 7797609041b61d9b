// Batched 512-point complex FFT, one transform a CTA. Each of 64 threads holds eight points in registers and runs three radix-8
// butterflies; between them points change hands through shared memory, real and imaginary parts one after the other.

#define POINTS 512
#define THREADS 64

__device__ __forceinline__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ float2 operator*(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ __forceinline__ float2 minus_i(float2 a) { return make_float2(a.y, -a.x); }

__device__ __forceinline__ void butterfly4(float2& a, float2& b, float2& c, float2& d)
{
    float2 even = a + c, odd = a - c, sum = b + d, turn = minus_i(b - d);
    a = even + sum;
    b = odd + turn;
    c = even - sum;
    d = odd - turn;
}

// Eight-point DFT, results in natural order.
__device__ __forceinline__ void butterfly8(float2 (&v)[8])
{
    const float root = 0.70710678f;
    butterfly4(v[0], v[2], v[4], v[6]);
    butterfly4(v[1], v[3], v[5], v[7]);
    float2 a = v[3] * make_float2(root, -root);
    float2 b = minus_i(v[5]);
    float2 c = v[7] * make_float2(-root, -root);
    float2 o0 = v[1];
    float2 e0 = v[0], e1 = v[2], e2 = v[4], e3 = v[6];
    v[0] = e0 + o0;
    v[4] = e0 - o0;
    v[1] = e1 + a;
    v[5] = e1 - a;
    v[2] = e2 + b;
    v[6] = e2 - b;
    v[3] = e3 + c;
    v[7] = e3 - c;
}

// Point i of this thread goes to i * out_step + to; it then takes those at i * in_step + from.
__device__ __forceinline__ void exchange(float2 (&v)[8], float* buffer, int to, int out_step, int from, int in_step)
{
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++)
        buffer[to + i * out_step] = v[i].x;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++)
        v[i].x = buffer[from + i * in_step];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++)
        buffer[to + i * out_step] = v[i].y;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++)
        v[i].y = buffer[from + i * in_step];
}

// Twiddles: roots[n] = exp(-2 pi i n / 512).
extern "C" __global__ void __launch_bounds__(THREADS)
fft512(const float2* __restrict__ in, float2* __restrict__ out, const float2* __restrict__ roots)
{
    __shared__ float buffer[POINTS + POINTS / 8];  // a gap after every 64 points avoids bank conflicts
    int thread = threadIdx.x;
    in += blockIdx.x * POINTS;
    out += blockIdx.x * POINTS;

    float2 v[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        v[i] = in[i * THREADS + thread];

    // First stage: points 64 apart; twiddle n of column t is root^(n t).
    butterfly8(v);
#pragma unroll
    for (int i = 1; i < 8; i++)
        v[i] = v[i] * roots[i * thread];
    int low = thread & 7;
    int high = thread >> 3;
    exchange(v, buffer, thread, THREADS + 8, high * (THREADS + 8) + low, 8);

    // Second stage: within each group of 64, points eight apart.
    butterfly8(v);
#pragma unroll
    for (int i = 1; i < 8; i++)
        v[i] = v[i] * roots[8 * i * low];
    exchange(v, buffer, high * (THREADS + 8) + low, 9, high * (THREADS + 8) + low * 9, 1);

    // Third stage: eight neighbours; digits of the index come out reversed.
    butterfly8(v);
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[i * THREADS + low * 8 + high] = v[i];
}

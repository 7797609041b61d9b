// Two-dimensional discrete cosine transform (DCT-II, orthonormal) of every 8 x 8 block of an image: D = C X C'. A CTA of 8 x 8 threads holds
// one block in shared memory; each thread makes one coefficient, first of C X, then of (C X) C'.

#define N 8

__constant__ float basis[N * N] = {
    0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f,
    0.49039264f, 0.41573481f, 0.27778512f, 0.09754516f, -0.09754516f, -0.27778512f, -0.41573481f, -0.49039264f,
    0.46193977f, 0.19134172f, -0.19134172f, -0.46193977f, -0.46193977f, -0.19134172f, 0.19134172f, 0.46193977f,
    0.41573481f, -0.09754516f, -0.49039264f, -0.27778512f, 0.27778512f, 0.49039264f, 0.09754516f, -0.41573481f,
    0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f, 0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f,
    0.27778512f, -0.49039264f, 0.09754516f, 0.41573481f, -0.41573481f, -0.09754516f, 0.49039264f, -0.27778512f,
    0.19134172f, -0.46193977f, 0.46193977f, -0.19134172f, -0.19134172f, 0.46193977f, -0.46193977f, 0.19134172f,
    0.09754516f, -0.27778512f, 0.41573481f, -0.49039264f, 0.49039264f, -0.41573481f, 0.27778512f, -0.09754516f,
};

extern "C" __global__ void dct8x8(const float* image, float* coefficients, int width)
{
    __shared__ float pixels[N * N];
    __shared__ float halfway[N * N];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int place = (blockIdx.y * N + y) * width + blockIdx.x * N + x;

    pixels[y * N + x] = image[place] - 128.0f;
    __syncthreads();

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < N; ++k)
        sum += basis[y * N + k] * pixels[k * N + x];
    halfway[y * N + x] = sum;
    __syncthreads();

    sum = 0.0f;
#pragma unroll
    for (int k = 0; k < N; ++k)
        sum += halfway[y * N + k] * basis[x * N + k];
    coefficients[place] = sum;
}

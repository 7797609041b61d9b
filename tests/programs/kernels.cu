// Kernels that driver.c loads by itself.
extern "C" {
__constant__ float factor = 2.0f;
__device__ int counter;

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = factor * a[i] + b[i];
    if (i == 0) counter++;
}

struct many { char first; double second; int third[5]; };
__global__ void structured(many given, double *out) {
    out[threadIdx.x] = given.first + given.second + given.third[threadIdx.x];
}

__global__ void reversed(int *data) {
    extern __shared__ int room[];
    room[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

__global__ void standing(int *data) {
    __shared__ int room[100];
    room[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

__global__ void far_away(int *data) { data[1 << 26] = 1; }
}

// A particle filter that tracks a bright disk through noisy frames. Per frame: move the particles at random and weigh each by
// how much the picture around it looks like the disk; normalise the weights and add them up; draw the next generation.

#define THREADS 512
#define BATCH 3

__device__ __forceinline__ float uniform(unsigned& state)
{
    state = state * 1664525u + 1013904223u;
    return ((state >> 8) + 0.5f) * (1.0f / 16777216.0f);
}

__device__ __forceinline__ float block_sum(float value, float* scratch)
{
    scratch[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            scratch[threadIdx.x] += scratch[threadIdx.x + half];
        __syncthreads();
    }
    float sum = scratch[0];
    __syncthreads();
    return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
likelihood(const float* __restrict__ frame, int width, int height, const float2* __restrict__ disk, int points, float* x,
           float* y, unsigned* seed, float* weight, float* partial, int particles, float drift_x, float drift_y, float spread)
{
    __shared__ float scratch[THREADS];
    int particle = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = 0.0f;
    if (particle < particles) {
        unsigned state = seed[particle];
        float radius = spread * sqrtf(-2.0f * __logf(uniform(state)));
        float angle = 6.283185307f * uniform(state);
        seed[particle] = state;
        float px = x[particle] + drift_x + radius * __cosf(angle);
        float py = y[particle] + drift_y + radius * __sinf(angle);
        px = fminf(fmaxf(px, 0.0f), width - 1.001f);
        py = fminf(fmaxf(py, 0.0f), height - 1.001f);
        x[particle] = px;
        y[particle] = py;

        float sum = 0.0f;
        for (int point = 0; point < points; point += BATCH) {
            // Two points at a time, so that their eight pixels are fetched together.
            float4 pixels[BATCH];
            float fx[BATCH];
            float fy[BATCH];
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                float2 offset = disk[point + i];
                float sx = fminf(fmaxf(px + offset.x, 0.0f), width - 1.001f);
                float sy = fminf(fmaxf(py + offset.y, 0.0f), height - 1.001f);
                int column = (int)sx;
                int row = (int)sy;
                fx[i] = sx - column;
                fy[i] = sy - row;
                const float* pixel = frame + row * width + column;
                pixels[i] = make_float4(pixel[0], pixel[1], pixel[width], pixel[width + 1]);
            }
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                float upper = pixels[i].x + fx[i] * (pixels[i].y - pixels[i].x);
                float lower = pixels[i].z + fx[i] * (pixels[i].w - pixels[i].z);
                float value = upper + fy[i] * (lower - upper);
                float background = value - 100.0f;
                float foreground = value - 228.0f;
                sum += (background * background - foreground * foreground) * (1.0f / 5000.0f);
            }
        }
        mine = weight[particle] * __expf(sum / points);
        weight[particle] = mine;
    }
    float total = block_sum(mine, scratch);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = total;
}

extern "C" __global__ void __launch_bounds__(THREADS)
normalise(const float* __restrict__ partial, int partials, const float* __restrict__ x, const float* __restrict__ y,
          float* weight, float* cumulative, float* moments, int particles)
{
    __shared__ float scratch[THREADS];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < partials; i += blockDim.x)
        sum += partial[i];
    float total = block_sum(sum, scratch);

    int particle = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = particle < particles ? weight[particle] / total : 0.0f;
    float moment_x = block_sum(particle < particles ? mine * x[particle] : 0.0f, scratch);
    float moment_y = block_sum(particle < particles ? mine * y[particle] : 0.0f, scratch);

    // Inclusive scan of the CTA's weights; the CTAs' totals are added by whoever searches the distribution.
    scratch[threadIdx.x] = mine;
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2) {
        float left = threadIdx.x >= distance ? scratch[threadIdx.x - distance] : 0.0f;
        __syncthreads();
        scratch[threadIdx.x] += left;
        __syncthreads();
    }
    if (particle < particles) {
        weight[particle] = mine;
        cumulative[particle] = scratch[threadIdx.x];
    }
    if (threadIdx.x == 0) {
        moments[2 * blockIdx.x] = moment_x;
        moments[2 * blockIdx.x + 1] = moment_y;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
resample(const float* __restrict__ cumulative, const float* __restrict__ x, const float* __restrict__ y, float* new_x,
         float* new_y, float* weight, int particles, float first)
{
    int particle = blockIdx.x * blockDim.x + threadIdx.x;
    if (particle >= particles)
        return;
    // Systematic resampling: find the CTA's share that holds this quantile, then the particle within it.
    float quantile = (particle + first) / particles;
    int start = 0;
    int end = min(THREADS, particles);
    while (end < particles && quantile > cumulative[end - 1]) {
        quantile -= cumulative[end - 1];
        start = end;
        end = min(start + THREADS, particles);
    }
    int low = start;
    int high = end - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (cumulative[middle] >= quantile)
            high = middle;
        else
            low = middle + 1;
    }
    new_x[particle] = x[low];
    new_y[particle] = y[low];
    weight[particle] = 1.0f / particles;
}

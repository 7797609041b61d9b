// A particle filter that tracks a bright disk through noisy frames. Per frame: move the particles at random and weigh each by
// how much the picture around it looks like the disk; normalise the weights and add them up; draw the next generation.

#define THREADS 512

__device__ __forceinline__ float uniform(unsigned& state)
{
    state = state * 1664525u + 1013904223u;
    return ((state >> 8) + 0.5f) * (1.0f / 16777216.0f);
}

// The sum of the CTA's values, of which `count` exist. One warp adds them, each lane sixteen, all on their way at once.
__device__ __forceinline__ float block_sum(float value, float* scratch, int count)
{
    scratch[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        float values[THREADS / 32];
#pragma unroll
        for (int i = 0; i < THREADS / 32; i++) {
            values[i] = 0.0f;
            if (i * 32 + threadIdx.x < count)
                values[i] = scratch[i * 32 + threadIdx.x];
        }
#pragma unroll
        for (int i = 0; i < 8; i++)
            values[i] += values[i + 8];
#pragma unroll
        for (int i = 0; i < 4; i++)
            values[i] += values[i + 4];
        values[0] += values[2];
        values[1] += values[3];
        values[0] += values[1];
#pragma unroll
        for (int half = 16; half > 0; half /= 2)
            values[0] += __shfl_down_sync(0xffffffff, values[0], half);
        if (threadIdx.x == 0)
            scratch[0] = values[0];
    }
    __syncthreads();
    float sum = scratch[0];
    __syncthreads();
    return sum;
}

struct Sample {
    float upper_left, upper_right, lower_left, lower_right;
    float across, down;  // where between the pixels
};

__device__ __forceinline__ Sample fetch(const float* __restrict__ frame, int width, int height, float x, float y, float2 offset)
{
    x = fminf(fmaxf(x + offset.x, 0.0f), width - 1.001f);
    y = fminf(fmaxf(y + offset.y, 0.0f), height - 1.001f);
    int column = (int)x;
    int row = (int)y;
    const float* pixel = frame + row * width + column;
    return {pixel[0], pixel[1], pixel[width], pixel[width + 1], x - column, y - row};
}

// How much more a sample is like the disk (228) than like the ground (100).
__device__ __forceinline__ float contrast(const Sample& sample)
{
    float upper = sample.upper_left + sample.across * (sample.upper_right - sample.upper_left);
    float lower = sample.lower_left + sample.across * (sample.lower_right - sample.lower_left);
    float value = upper + sample.down * (lower - upper);
    float background = value - 100.0f;
    float foreground = value - 228.0f;
    return (background * background - foreground * foreground) * (1.0f / 5000.0f);
}

extern "C" __global__ void __launch_bounds__(THREADS)
likelihood(const float* __restrict__ frame, int width, int height, const float2* __restrict__ disk, int points, float* x,
           float* y, unsigned* seed, float* weight, float* partial, int particles, float drift_x, float drift_y, float spread)
{
    __shared__ float scratch[THREADS];
    int particle = blockIdx.x * blockDim.x + threadIdx.x;
    float px = 0.0f, py = 0.0f, mine = 0.0f;
    unsigned state = 0;
    if (particle < particles) {
        state = seed[particle];
        float radius = spread * sqrtf(-2.0f * __logf(uniform(state)));
        float angle = 6.283185307f * uniform(state);
        px = x[particle] + drift_x + radius * __cosf(angle);
        py = y[particle] + drift_y + radius * __sinf(angle);
        px = fminf(fmaxf(px, 0.0f), width - 1.001f);
        py = fminf(fmaxf(py, 0.0f), height - 1.001f);

        float sum = 0.0f;
#pragma unroll 1
        for (int point = 0; point < points; point++)
            sum += contrast(fetch(frame, width, height, px, py, disk[point]));
        mine = weight[particle] * __expf(sum / points);
    }
    float total = block_sum(mine, scratch, particles - blockIdx.x * blockDim.x);
    if (particle < particles) {
        seed[particle] = state;
        x[particle] = px;
        y[particle] = py;
        weight[particle] = mine;
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = total;
}

extern "C" __global__ void __launch_bounds__(THREADS)
normalise(const float* __restrict__ partial, int partials, const float* __restrict__ x, const float* __restrict__ y,
          float* weight, float* cumulative, float* moments, int particles)
{
    __shared__ float scratch[THREADS];
    float sum = 0.0f;
    float sum_before = 0.0f;
    for (int i = threadIdx.x; i < partials; i += blockDim.x) {
        sum += partial[i];
        sum_before += i < blockIdx.x ? partial[i] : 0.0f;
    }
    float total = block_sum(sum, scratch, THREADS);
    float before = block_sum(sum_before, scratch, THREADS) / total;

    int particle = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = particle < particles ? weight[particle] / total : 0.0f;
    int here = particles - blockIdx.x * blockDim.x;
    float moment_x = block_sum(particle < particles ? mine * x[particle] : 0.0f, scratch, here);
    float moment_y = block_sum(particle < particles ? mine * y[particle] : 0.0f, scratch, here);

    // Inclusive scan of the CTA's weights, on top of those of the CTAs before it.
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
        cumulative[particle] = before + scratch[threadIdx.x];
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
    // Systematic resampling: the first particle at which the distribution reaches this one's quantile.
    float quantile = (particle + first) / particles;
    int low = 0;
    int high = particles - 1;
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

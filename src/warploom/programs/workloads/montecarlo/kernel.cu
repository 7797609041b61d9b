// Monte Carlo pricing of European call options. One CTA prices one option: its threads share the paths, which all options take
// from the same array of normal deviates, and then add up pay-offs and their squares in shared memory.

#define THREADS 256

struct Option {
    float spot;
    float strike;
    float drift;       // (rate - volatility^2 / 2) * years
    float volatility;  // times the root of the years
};

// The sum of eight values, a warp's width apart, as a tree.
__device__ __forceinline__ float eight(const float* values)
{
    return ((values[0] + values[128]) + (values[64] + values[192])) + ((values[32] + values[160]) + (values[96] + values[224]));
}

extern "C" __global__ void __launch_bounds__(THREADS)
montecarlo(const Option* __restrict__ options, const float* __restrict__ deviates, int paths, float2* __restrict__ sums)
{
    __shared__ float total[THREADS];
    __shared__ float square[THREADS];
    Option option = options[blockIdx.x];

    float sum = 0.0f;
    float sum_of_squares = 0.0f;
#pragma unroll 1
    for (int path = threadIdx.x; path < paths; path += THREADS) {
        float gain = option.spot * __expf(option.drift + option.volatility * deviates[path]) - option.strike;
        gain = fmaxf(gain, 0.0f);
        sum += gain;
        sum_of_squares += gain * gain;
    }
    total[threadIdx.x] = sum;
    square[threadIdx.x] = sum_of_squares;
    __syncthreads();
    // One warp adds up: each lane eight pay-offs and eight squares, then across the lanes.
    if (threadIdx.x < 32) {
        sum = eight(total + threadIdx.x);
        sum_of_squares = eight(square + threadIdx.x);
#pragma unroll
        for (int half = 16; half > 0; half /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, half);
            sum_of_squares += __shfl_down_sync(0xffffffff, sum_of_squares, half);
        }
        if (threadIdx.x == 0)
            sums[blockIdx.x] = make_float2(sum, sum_of_squares);
    }
}

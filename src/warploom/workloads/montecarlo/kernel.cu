// Monte Carlo pricing of European call options. One CTA prices one option: its threads share the paths, which all options take
// from the same array of normal deviates, and then add up pay-offs and their squares in shared memory.

#define THREADS 256

struct Option {
    float spot;
    float strike;
    float drift;       // (rate - volatility^2 / 2) * years
    float volatility;  // times the root of the years
};

extern "C" __global__ void __launch_bounds__(THREADS)
montecarlo(const Option* __restrict__ options, const float* __restrict__ deviates, int paths, float2* __restrict__ sums)
{
    __shared__ float total[THREADS];
    __shared__ float square[THREADS];
    Option option = options[blockIdx.x];

    float sum = 0.0f;
    float sum_of_squares = 0.0f;
    for (int path = threadIdx.x; path < paths; path += THREADS) {
        float gain = option.spot * __expf(option.drift + option.volatility * deviates[path]) - option.strike;
        gain = fmaxf(gain, 0.0f);
        sum += gain;
        sum_of_squares += gain * gain;
    }
    total[threadIdx.x] = sum;
    square[threadIdx.x] = sum_of_squares;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            total[threadIdx.x] += total[threadIdx.x + half];
            square[threadIdx.x] += square[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = make_float2(total[0], square[0]);
}

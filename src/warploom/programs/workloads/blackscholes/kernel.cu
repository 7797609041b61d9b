// European call and put prices by the Black-Scholes formula; one thread walks over the options with the stride of the grid.

// Cumulative normal distribution by the five-term polynomial of Hastings (Abramowitz and Stegun 26.2.17).
__device__ __forceinline__ float cumulative_normal(float d)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float polynomial =
        k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228f * __expf(-0.5f * d * d) * polynomial;
    return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void blackscholes(float* call, float* put, const float* price, const float* strike,
                                        const float* years, float riskfree, float volatility, int options)
{
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < options; i += stride) {
        const float s = price[i];
        const float x = strike[i];
        const float t = years[i];
        const float deviation = volatility * sqrtf(t);
        const float d1 = (__logf(s / x) + (riskfree + 0.5f * volatility * volatility) * t) / deviation;
        const float n1 = cumulative_normal(d1);
        const float n2 = cumulative_normal(d1 - deviation);
        const float discounted = x * __expf(-riskfree * t);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}

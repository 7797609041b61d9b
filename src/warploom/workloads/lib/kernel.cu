// Monte Carlo valuation of a portfolio of swaptions in the LIBOR market model, one path a thread. A thread keeps its forward rates in local memory,
// evolves them over the time steps, and then discounts the portfolio along the path.

#define MAX_RATES 80
#define OPTIONS 15

__constant__ int maturities[OPTIONS] = {2, 2, 2, 4, 4, 4, 5, 5, 5, 6, 6, 7, 8, 9, 10};
__constant__ float swap_rates[OPTIONS] = {0.045f, 0.05f, 0.055f, 0.045f, 0.05f, 0.055f, 0.045f, 0.05f,
                                          0.055f, 0.045f, 0.05f, 0.055f, 0.045f, 0.05f, 0.055f};

extern "C" __global__ void libor(const float* normals, const float* initial_rates, const float* volatilities, float* values, int paths, int rates,
                                 int steps, float delta, float root_delta)
{
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;

    float forward[MAX_RATES];
    for (int i = 0; i < rates; ++i)
        forward[i] = initial_rates[i];

    for (int step = 0; step < steps; ++step) {
        const float shock = root_delta * normals[step * paths + path];
        float drift = 0.0f;
#pragma unroll 2
        for (int i = step + 1; i < rates; ++i) {
            const float volatility = volatilities[i - step - 1];
            const float scaled = delta * volatility;
            const float rate = forward[i];
            drift += scaled * rate / (1.0f + delta * rate);
            forward[i] = rate * __expf(scaled * drift + volatility * (shock - 0.5f * scaled));
        }
    }

    // Discount factors and annuities after the last step, both kept in place of the rates that are no longer needed.
    float annuities[MAX_RATES / 2];
    float discount = 1.0f;
    float annuity = 0.0f;
    for (int i = steps; i < rates; ++i) {
        discount /= 1.0f + delta * forward[i];
        annuity += delta * discount;
        forward[i] = discount;
        annuities[i - steps] = annuity;
    }
    float value = 0.0f;
    for (int option = 0; option < OPTIONS; ++option) {
        const int last = maturities[option] - 1;
        const float swap = forward[steps + last] + swap_rates[option] * annuities[last] - 1.0f;
        if (swap < 0.0f)
            value -= 100.0f * swap;
    }
    discount = 1.0f;
    for (int i = 0; i < steps; ++i)
        discount /= 1.0f + delta * forward[i];
    values[path] = discount * value;
}

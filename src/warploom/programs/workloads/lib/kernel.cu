// Monte Carlo valuation of a portfolio of swaptions in the LIBOR market model, one path a thread. A thread keeps its forward
// rates in local memory, evolves them over the time steps, and then discounts the portfolio along the path. Beside every
// quantity it carries the derivative with respect to a parallel shift of the initial rates, which gives the portfolio's
// sensitivity together with its value.

#define MAX_RATES 80
#define OPTIONS 15

__constant__ int maturities[OPTIONS] = {2, 2, 2, 4, 4, 4, 5, 5, 5, 6, 6, 7, 8, 9, 10};
__constant__ float swap_rates[OPTIONS] = {0.045f, 0.05f, 0.055f, 0.045f, 0.05f, 0.055f, 0.045f, 0.05f,
                                          0.055f, 0.045f, 0.05f, 0.055f, 0.045f, 0.05f, 0.055f};

extern "C" __global__ void libor(const float* normals, const float* initial_rates, const float* volatilities, float* values,
                                 float* sensitivities, int paths, int rates, int steps, float delta, float root_delta)
{
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;

    float forward[MAX_RATES], forward_shift[MAX_RATES];
    for (int i = 0; i < rates; ++i) {
        forward[i] = initial_rates[i];
        forward_shift[i] = 1.0f;
    }

    for (int step = 0; step < steps; ++step) {
        const float shock = root_delta * normals[step * paths + path];
        float drift = 0.0f, drift_shift = 0.0f;
#pragma unroll 2
        for (int i = step + 1; i < rates; ++i) {
            const float volatility = volatilities[i - step - 1];
            const float scaled = delta * volatility;
            const float rate = forward[i], rate_shift = forward_shift[i];
            const float growing = 1.0f / (1.0f + delta * rate);
            drift += scaled * rate * growing;
            drift_shift += scaled * rate_shift * growing * growing;
            const float factor = __expf(scaled * drift + volatility * (shock - 0.5f * scaled));
            forward[i] = rate * factor;
            forward_shift[i] = factor * (rate_shift + rate * scaled * drift_shift);
        }
    }

    // Discount factors take the place of the rates after the last step, which are no longer needed.
    float annuities[MAX_RATES / 2], annuity_shifts[MAX_RATES / 2];
    float discount = 1.0f, discount_shift = 0.0f;
    float annuity = 0.0f, annuity_shift = 0.0f;
#pragma unroll 1
    for (int i = steps; i < rates; ++i) {
        const float growing = 1.0f / (1.0f + delta * forward[i]);
        discount *= growing;
        discount_shift = growing * (discount_shift - discount * delta * forward_shift[i]);
        annuity += delta * discount;
        annuity_shift += delta * discount_shift;
        forward[i] = discount;
        forward_shift[i] = discount_shift;
        annuities[i - steps] = annuity;
        annuity_shifts[i - steps] = annuity_shift;
    }
    float value = 0.0f, value_shift = 0.0f;
#pragma unroll 1
    for (int option = 0; option < OPTIONS; ++option) {
        const int last = maturities[option] - 1;
        const float swap = forward[steps + last] + swap_rates[option] * annuities[last] - 1.0f;
        if (swap < 0.0f) {
            value -= 100.0f * swap;
            value_shift -= 100.0f * (forward_shift[steps + last] + swap_rates[option] * annuity_shifts[last]);
        }
    }
    discount = 1.0f;
    discount_shift = 0.0f;
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
        const float growing = 1.0f / (1.0f + delta * forward[i]);
        discount *= growing;
        discount_shift = growing * (discount_shift - discount * delta * forward_shift[i]);
    }
    values[path] = discount * value;
    sensitivities[path] = discount_shift * value + discount * value_shift;
}

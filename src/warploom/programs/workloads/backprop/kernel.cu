// One training step between a large input layer and a hidden layer of 16 units. CTAs of 16 x 16 threads: x is the hidden
// unit, y one of the CTA's 16 inputs; weights lie row by row, one row an input.

#define UNITS 16

// Each CTA multiplies its 16 inputs with their weights and adds over the inputs by a tree: 16 partial sums a CTA, one a
// hidden unit.
extern "C" __global__ void forward(const float* input, const float* weights, float* partial_sums)
{
    __shared__ float activations[UNITS];
    __shared__ float products[UNITS][UNITS];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int first = blockIdx.x * UNITS;

    if (x == 0)
        activations[y] = input[first + y];
    products[y][x] = weights[(first + y) * UNITS + x];
    __syncthreads();
    products[y][x] *= activations[y];
    __syncthreads();

    for (int reach = 2; reach <= UNITS; reach *= 2) {
        if (y % reach == 0)
            products[y][x] += products[y + reach / 2][x];
        __syncthreads();
    }
    if (y == 0)
        partial_sums[blockIdx.x * UNITS + x] = products[0][x];
}

// Gradient descent with momentum: each thread adjusts one weight.
extern "C" __global__ void adjust(const float* input, const float* deltas, float* weights, float* momenta, float rate,
                                  float momentum)
{
    const int x = threadIdx.x;
    const int row = blockIdx.x * UNITS + threadIdx.y;
    const int place = row * UNITS + x;
    const float step = rate * deltas[x] * input[row] + momentum * momenta[place];
    weights[place] += step;
    momenta[place] = step;
}

// A convolutional network for handwritten digits: 29 x 29 pixels, 6 maps of 13 x 13, 50 maps of 5 x 5, 100 units, 10
// classes. A thread is a neuron. In the two convolutions a CTA is one map of one image: 169 threads (13 x 13), then 25. Each
// map's weights begin with its bias.

#define PIXELS 29
#define MAPS1 6
#define SIDE1 13
#define MAPS2 50
#define SIDE2 5
#define UNITS3 100
#define UNITS4 10
#define KERNEL 5

__device__ __forceinline__ float squash(float x)
{
    return 1.7159f * tanhf(0.66666667f * x);
}

extern "C" __global__ void convolution1(const float* images, const float* weights, float* maps)
{
    const int map = blockIdx.x;
    const int image = blockIdx.y;
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const float* kernel = weights + map * (KERNEL * KERNEL + 1);
    const float* corner = images + (image * PIXELS + 2 * y) * PIXELS + 2 * x;
    float sum = kernel[0];
    for (int j = 0; j < KERNEL; ++j)
#pragma unroll
        for (int i = 0; i < KERNEL; ++i)
            sum += corner[j * PIXELS + i] * kernel[1 + j * KERNEL + i];
    maps[((image * MAPS1 + map) * SIDE1 + y) * SIDE1 + x] = squash(sum);
}

extern "C" __global__ void convolution2(const float* maps1, const float* weights, float* maps2)
{
    const int map = blockIdx.x;
    const int image = blockIdx.y;
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const float* kernel = weights + map * (MAPS1 * KERNEL * KERNEL + 1);
    const float* corner = maps1 + (image * MAPS1 * SIDE1 + 2 * y) * SIDE1 + 2 * x;
    float sum = *kernel++;
    for (int from = 0; from < MAPS1; ++from) {
        for (int j = 0; j < KERNEL; ++j)
#pragma unroll
            for (int i = 0; i < KERNEL; ++i)
                sum += corner[j * SIDE1 + i] * kernel[j * KERNEL + i];
        kernel += KERNEL * KERNEL;
        corner += SIDE1 * SIDE1;
    }
    maps2[((image * MAPS2 + map) * SIDE2 + y) * SIDE2 + x] = squash(sum);
}

// Weights of the fully connected layers lie input by input, so that neighbouring threads read neighbouring words; the first
// row is the bias.
__device__ __forceinline__ float connected(const float* inputs, const float* weights, int count, int units)
{
    float sum = weights[threadIdx.x];
    for (int i = 0; i < count; ++i)
        sum += inputs[i] * weights[(i + 1) * units + threadIdx.x];
    return squash(sum);
}

extern "C" __global__ void connected3(const float* maps2, const float* weights, float* units3)
{
    const int inputs = MAPS2 * SIDE2 * SIDE2;
    units3[blockIdx.x * UNITS3 + threadIdx.x] = connected(maps2 + blockIdx.x * inputs, weights, inputs, UNITS3);
}

extern "C" __global__ void connected4(const float* units3, const float* weights, float* classes)
{
    classes[blockIdx.x * UNITS4 + threadIdx.x] = connected(units3 + blockIdx.x * UNITS3, weights, UNITS3, UNITS4);
}

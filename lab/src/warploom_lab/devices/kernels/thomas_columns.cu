// 64 equations with three unknowns each for each thread, forward and back through memory, columns side by side
extern "C" __global__ void thomas_columns(const float *middle, float *right, float *work, int count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float c = 0, d = 0;
    for (int k = 0; k < n; k++) {
        float inverse = 1.0f / (middle[k * count + i] + c);
        c = -inverse;
        d = (right[k * count + i] + d) * inverse;
        work[k * count + i] = c;
        right[k * count + i] = d;
    }
    float x = 0;
    for (int k = n - 1; k >= 0; k--) {
        x = right[k * count + i] - work[k * count + i] * x;
        right[k * count + i] = x;
    }
}

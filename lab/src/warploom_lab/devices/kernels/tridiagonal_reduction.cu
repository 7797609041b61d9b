// 256 equations with three unknowns each for each CTA, by parallel cyclic reduction in shared memory
extern "C" __global__ void tridiagonal_reduction(const float *lower, const float *middle, const float *upper, const float *right, float *out)
{
    __shared__ float a[256], b[256], c[256], d[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    a[t] = t ? lower[i] : 0.0f;
    b[t] = middle[i];
    c[t] = t < 255 ? upper[i] : 0.0f;
    d[t] = right[i];
    for (int gap = 1; gap < 256; gap *= 2) {
        __syncthreads();
        int low = max(t - gap, 0), high = min(t + gap, 255);
        float x = a[t] / b[low], y = c[t] / b[high];
        float na = -x * a[low], nc = -y * c[high], nb = b[t] - x * c[low] - y * a[high], nd = d[t] - x * d[low] - y * d[high];
        if (t - gap < 0) {
            na = 0;
            nb = b[t] - y * a[high];
            nd = d[t] - y * d[high];
        }
        if (t + gap > 255) {
            nc = 0;
            nb = t - gap < 0 ? b[t] : b[t] - x * c[low];
            nd = t - gap < 0 ? d[t] : d[t] - x * d[low];
        }
        __syncthreads();
        a[t] = na;
        b[t] = nb;
        c[t] = nc;
        d[t] = nd;
    }
    out[i] = d[t] / b[t];
}

// two sorted lists become one: each thread finds its diagonal by bisection and merges eight numbers
extern "C" __global__ void merge_path(const int *a, const int *b, int *out, int n)
{
    int d = (blockIdx.x * blockDim.x + threadIdx.x) * 8, low = max(0, d - n), high = min(d, n);
    while (low < high) {
        int mid = (low + high) / 2;
        if (a[mid] <= b[d - 1 - mid]) low = mid + 1;
        else high = mid;
    }
    int i = low, j = d - low;
    for (int k = 0; k < 8; k++) {
        bool left = j >= n || (i < n && a[i] <= b[j]);
        out[d + k] = left ? a[i++] : b[j++];
    }
}

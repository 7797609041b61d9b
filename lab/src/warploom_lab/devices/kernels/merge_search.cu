// every thread searches its key in a sorted array of a million
extern "C" __global__ void merge_search(const int *sorted, const int *keys, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i], lo = 0, hi = n;
    while (lo < hi) {
        int middle = (lo + hi) / 2;
        if (sorted[middle] < key) lo = middle + 1;
        else hi = middle;
    }
    out[i] = lo;
}

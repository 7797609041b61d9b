// 24 numbers of each thread sorted by insertion in an array of local memory
extern "C" __global__ void insertion_sort_local(const int *in, int *out)
{
    int v[24], i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (int k = 0; k < 24; k++) {
        int x = in[k * all + i], j = k;
        while (j > 0 && v[j - 1] > x) {
            v[j] = v[j - 1];
            j--;
        }
        v[j] = x;
    }
    for (int k = 0; k < 24; k++) out[k * all + i] = v[k];
}

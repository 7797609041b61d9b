// half a sweep of Ising's model: random numbers by hashing, energies by a table of exponentials in registers
extern "C" __global__ void ising_checkerboard(const unsigned char *spin, unsigned char *out, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, y = i / 256, x = i % 256 * 2 + (y & 1), n = 512;
    int up = (y + n - 1) % n, down = (y + 1) % n, left = (x + n - 1) % n, right = (x + 1) % n;
    int mine = 2 * spin[y * n + x] - 1, sum = 2 * (spin[up * n + x] + spin[down * n + x] + spin[y * n + left] + spin[y * n + right]) - 4;
    unsigned h = (unsigned)i * 0x9e3779b9u ^ seed;
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    h ^= h >> 16;
    float limit = expf(-0.88f * mine * sum);
    out[y * n + x] = h * 2.3283064e-10f < limit ? mine < 0 : mine > 0;
}

// pairs of particles in double precision with a division each
extern "C" __global__ void lennard_jones_f64(const double *p, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2], energy = 0;
    for (int j = 0; j < n; j++) {
        double dx = p[3 * j] - x, dy = p[3 * j + 1] - y, dz = p[3 * j + 2] - z;
        double r2 = 1.0 / (dx * dx + dy * dy + dz * dz + 0.5), r6 = r2 * r2 * r2;
        energy += r6 * r6 - r6;
    }
    out[i] = energy;
}

// Kepler's equation in double precision by Newton's method, until it does not change: lanes end at different times
extern "C" __global__ void kepler_f64(const double *mean, const double *eccentricity, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double m = mean[i], e = eccentricity[i], x = m + e * sin(m);
    for (int k = 0; k < 12; k++) {
        double s, c;
        sincos(x, &s, &c);
        double step = (x - e * s - m) / (1.0 - e * c);
        x -= step;
        if (fabs(step) < 1e-12) break;
    }
    out[i] = x;
}

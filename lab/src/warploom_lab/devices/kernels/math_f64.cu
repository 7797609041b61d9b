// exponential, logarithm and root in double precision
extern "C" __global__ void math_f64(const double *in, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i];
    for (int k = 0; k < 3; k++) x = exp(-x) + log(x + 1.5) + sqrt(x + 2.0);
    out[i] = x;
}

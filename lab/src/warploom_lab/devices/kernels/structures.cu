// particles of 20 bytes in a row
struct Particle { float x, y, z, m; int k; };
extern "C" __global__ void structures(Particle *p, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Particle me = p[i];
    me.x += me.y * dt;
    me.z -= me.m * dt;
    me.k++;
    p[i] = me;
}

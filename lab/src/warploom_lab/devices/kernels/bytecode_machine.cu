// a small machine's code is interpreted: eight kinds of instructions, each warp begins at another place, lanes agree but for one kind
extern "C" __global__ void bytecode_machine(const unsigned *program, const int *data, int *out, int rounds)
{
    __shared__ unsigned code[64];
    if (threadIdx.x < 64) code[threadIdx.x] = program[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, a = data[i], b = i % 32, c = 1, pc = threadIdx.x / 32 * 5;
    for (int k = 0; k < rounds * 64; k++) {
        unsigned op = code[pc & 63];
        int value = op >> 4;
        pc++;
        switch (op & 7) {
        case 0: a += value; break;
        case 1: b = a ^ value; break;
        case 2: a = a * 3 + c; break;
        case 3: c = b >> (value & 7); break;
        case 4: { int other = a; a = b; b = other; break; }
        case 5: if (a & 1) c += b; else c -= value; break;
        case 6: a = min(a, b) + max(b, c); break;
        default: b = __popc(a) + __clz(b | 1) * value;
        }
    }
    out[i] = a + b + c;
}

// AES-128, every block on its own (ECB mode). A CTA of 256 threads encrypts 64 blocks of 16 bytes, four threads a block: each
// computes one column of the state in every round from the four look-up tables that join substitution, shift of rows and mix
// of columns. Tables, round keys and the state lie in shared memory. Words are big-endian columns, as the standard numbers
// bytes.

#define THREADS 256
#define ROUNDS 10

extern "C" __global__ void aes(const unsigned* plain, unsigned* cipher, const unsigned* tables, const unsigned* round_keys)
{
    __shared__ unsigned table[4][256];
    __shared__ unsigned keys[4 * (ROUNDS + 1)];
    __shared__ unsigned state[2][THREADS];
    const int t = threadIdx.x;
    const int column = t % 4;
    const int block = t - column;

#pragma unroll
    for (int i = 0; i < 4; ++i)
        table[i][t] = tables[i * 256 + t];
    // Every thread copies a key, some the same one: no thread has to stand aside.
    keys[t % (4 * (ROUNDS + 1))] = round_keys[t % (4 * (ROUNDS + 1))];
    __syncthreads();
    state[0][t] = plain[blockIdx.x * THREADS + t] ^ keys[column];
    __syncthreads();

    for (int round = 1; round < ROUNDS; ++round) {
        const unsigned* const from = state[(round + 1) % 2];
        state[round % 2][t] = table[0][from[t] >> 24]
                              ^ table[1][(from[block + (column + 1) % 4] >> 16) & 255]
                              ^ table[2][(from[block + (column + 2) % 4] >> 8) & 255]
                              ^ table[3][from[block + (column + 3) % 4] & 255]
                              ^ keys[4 * round + column];
        __syncthreads();
    }
    // The last round has no mix of columns; the substitution alone stands in the second byte of the first table's entries.
    const unsigned* const from = state[(ROUNDS + 1) % 2];
    const unsigned byte0 = (table[0][from[t] >> 24] >> 8) & 255;
    const unsigned byte1 = (table[0][(from[block + (column + 1) % 4] >> 16) & 255] >> 8) & 255;
    const unsigned byte2 = (table[0][(from[block + (column + 2) % 4] >> 8) & 255] >> 8) & 255;
    const unsigned byte3 = (table[0][from[block + (column + 3) % 4] & 255] >> 8) & 255;
    cipher[blockIdx.x * THREADS + t] = (byte0 << 24 | byte1 << 16 | byte2 << 8 | byte3) ^ keys[4 * ROUNDS + column];
}

// For every position of every DNA read the longest match with a reference sequence, one read a thread, by walking down the
// reference's suffix tree and following suffix links from one position to the next. Tree nodes are fetched through textures;
// how far a walk goes depends on the data, so warps diverge.

#define TEXTURE_WIDTH 256
#define ROOT 1

__device__ __forceinline__ int4 node_fetch(cudaTextureObject_t nodes, int node)
{
    return tex2D<int4>(nodes, (float)(node % TEXTURE_WIDTH), (float)(node / TEXTURE_WIDTH));
}

// A node's record in `edges`: first and end position of its edge's label in the reference, suffix link, unused.
extern "C" __global__ void mum(cudaTextureObject_t edges, cudaTextureObject_t children, const unsigned char* sequence,
                               const unsigned char* reads, unsigned char* lengths, int count, int read_length, int least)
{
    const int read = blockIdx.x * blockDim.x + threadIdx.x;
    if (read >= count)
        return;
    const unsigned char* const letters = reads + read * read_length;
    int node = ROOT;
    int matched = 0;  // letters on the way from the root to the node
    for (int start = 0; start <= read_length - least; ++start) {
        int at = start + matched;
        while (at < read_length) {
            const int4 next = node_fetch(children, node);
            const int letter = letters[at];
            const int child = letter == 0 ? next.x : letter == 1 ? next.y : letter == 2 ? next.z : next.w;
            if (child == 0)
                break;
            const int4 edge = node_fetch(edges, child);
            int along = edge.x + 1;
            ++at;
            while (along < edge.y && at < read_length && sequence[along] == letters[at]) {
                ++along;
                ++at;
            }
            if (along < edge.y)
                break;
            node = child;
            matched = at - start;
        }
        lengths[read * (read_length - least + 1) + start] = (unsigned char)(at - start);
        if (node != ROOT) {
            node = node_fetch(edges, node).z;
            --matched;
        }
    }
}

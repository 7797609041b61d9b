// Tracks points of a moving wall from frame to frame: one CTA of 512 threads a point. The CTA compares the point's template
// with every overlap of template and search window (normalised correlation over the part that overlaps, window sums from
// integral images), moves the point to the best match, and lets the template follow the image slowly. The phases use very
// different numbers of threads, and the length of the correlation loops depends on the overlap: warps diverge in most of
// them.

#define THREADS 512
#define MAX_WINDOW 33
#define FOLLOW 0.05f
#define LOADERS 128  // threads that bring the window
#define LOADS ((MAX_WINDOW * MAX_WINDOW + LOADERS - 1) / LOADERS)

// Sum over the rectangle of rows [top, bottom) and columns [left, right) from an integral image of the window.
__device__ __forceinline__ float rectangle(const float (*integral)[MAX_WINDOW + 1], int top, int bottom, int left, int right)
{
    return integral[bottom][right] - integral[top][right] - integral[bottom][left] + integral[top][left];
}

extern "C" __global__ void heartwall(const float* frame, float* templates, int* rows, int* columns, float* best_scores,
                                     int height, int width, int window, int side)
{
    __shared__ int corner[2];  // the window's row and column
    __shared__ float pixels[MAX_WINDOW][MAX_WINDOW];
    __shared__ float sums[MAX_WINDOW + 1][MAX_WINDOW + 1];
    __shared__ float squares[MAX_WINDOW + 1][MAX_WINDOW + 1];
    // The threads' best matches lie where the window was.
    float* const scores = pixels[0];
    int* const places = (int*)(scores + THREADS);
    const int t = threadIdx.x;
    float* const pattern = templates + blockIdx.x * side * side;

    if (t < 2)
        corner[t] = (t == 0 ? rows : columns)[blockIdx.x] - window / 2;
    __syncthreads();

    // The window around the point, brought by some of the warps with all loads of a thread on their way at once; pixels beyond
    // the image's edge repeat the edge.
    if (t < LOADERS) {
        float pixel[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            pixel[i] = 0.0f;
            if (i * LOADERS + t < window * window) {
                const int y = (i * LOADERS + t) / window;
                const int x = i * LOADERS + t - y * window;
                const int from_row = min(max(corner[0] + y, 0), height - 1);
                const int from_column = min(max(corner[1] + x, 0), width - 1);
                pixel[i] = frame[from_row * width + from_column];
            }
        }
#pragma unroll
        for (int i = 0; i < LOADS; ++i)
            if (i * LOADERS + t < window * window) {
                const int y = (i * LOADERS + t) / window;
                pixels[y][i * LOADERS + t - y * window] = pixel[i];
            }
    } else if (t - LOADERS <= window) {
        const int i = t - LOADERS;
        sums[i][0] = sums[0][i] = squares[i][0] = squares[0][i] = 0.0f;
    }
    __syncthreads();

    // Integral images: a thread a column, then a thread a row.
    if (t < window) {
        float sum = 0.0f, square = 0.0f;
#pragma unroll 1
        for (int y = 0; y < window; ++y) {
            const float pixel = pixels[y][t];
            sums[y + 1][t + 1] = sum += pixel;
            squares[y + 1][t + 1] = square += pixel * pixel;
        }
    }
    __syncthreads();
    if (t < window) {
        float sum = 0.0f, square = 0.0f;
#pragma unroll 1
        for (int x = 1; x <= window; ++x) {
            sums[t + 1][x] = sum += sums[t + 1][x];
            squares[t + 1][x] = square += squares[t + 1][x];
        }
    }
    __syncthreads();

    // Every shift of the template over the window with at least half of the template inside.
    const int across = window + side - 1;
    float best = -2.0f;
    int best_place = 0;
    for (int i = t; i / across < across; i += THREADS) {
        const int shift_y = i / across - side + 1;
        const int shift_x = i % across - side + 1;
        const int top = max(shift_y, 0), bottom = min(shift_y + side, window);
        const int left = max(shift_x, 0), right = min(shift_x + side, window);
        const int overlap = (bottom - top) * (right - left);
        if (2 * overlap < side * side)
            continue;
        const float count = (float)overlap;
        const float sum = rectangle(sums, top, bottom, left, right);
        const float square = rectangle(squares, top, bottom, left, right);
        const float variance = square - sum * sum / count;
        float product = 0.0f, pattern_sum = 0.0f, pattern_square = 0.0f;
        const float* value = pattern + (top - shift_y) * side + left - shift_x;
        const float* pixel = &pixels[top][left];
#pragma unroll 1
        for (int row = bottom - top; row > 0; --row) {
#pragma unroll 1
            for (int x = 0; x < right - left; ++x) {
                product += value[x] * pixel[x];
                pattern_sum += value[x];
                pattern_square += value[x] * value[x];
            }
            value += side;
            pixel += MAX_WINDOW;
        }
        const float covariance = product - pattern_sum * sum / count;
        const float variances = variance * (pattern_square - pattern_sum * pattern_sum / count);
        const float score = covariance * (variances > 0.0f ? rsqrtf(variances) : 0.0f);
        if (score > best) {
            best = score;
            best_place = i;
        }
    }
    __syncthreads();
    scores[t] = best;
    places[t] = best_place;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half && scores[t + half] > scores[t]) {
            scores[t] = scores[t + half];
            places[t] = places[t + half];
        }
        __syncthreads();
    }

    const int match_row = corner[0] + places[0] / across - side + 1 + side / 2;
    const int match_column = corner[1] + places[0] % across - side + 1 + side / 2;
    for (int i = t; i < side * side; i += THREADS) {
        const int from_row = min(max(match_row + i / side - side / 2, 0), height - 1);
        const int from_column = min(max(match_column + i % side - side / 2, 0), width - 1);
        pattern[i] += FOLLOW * (frame[from_row * width + from_column] - pattern[i]);
    }
    if (t == 0) {
        rows[blockIdx.x] = match_row;
        columns[blockIdx.x] = match_column;
        best_scores[blockIdx.x] = scores[0];
    }
}

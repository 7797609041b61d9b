// One program with many parts: the first argument says which runs. It prints what it finds; the tests know what that should be.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <csignal>
#include <cstring>
#include <thread>

#define CHECK(call) \
    do { \
        cudaError_t outcome = (call); \
        if (outcome != cudaSuccess) { \
            printf("%s: %s\n", #call, cudaGetErrorName(outcome)); \
            return 3; \
        } \
    } while (0)

__constant__ float factors[4];
__device__ int counter = 40;
__device__ float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__managed__ int shared_number = 7;

__global__ void scale(float *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = values[i] * factors[1] + table[i % 8];
}

__global__ void count(int n) {
    if (blockIdx.x * blockDim.x + threadIdx.x < n) atomicAdd(&counter, 1);
}

__global__ void add_one(int *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += 1;
}

__global__ void twice_the_number() { shared_number *= 2; }

__global__ void transpose(const float *in, size_t in_pitch, float *out, size_t out_pitch, int width, int height) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height)
        *(float *)((char *)out + x * out_pitch + y * 4) = *(const float *)((const char *)in + y * in_pitch + x * 4);
}

struct Uneven { char letter; double number; short half; };  // with padding in two places
__global__ void unpack(Uneven given, double *out) {
    out[0] = given.letter;
    out[1] = given.number;
    out[2] = given.half;
}

__global__ void fetch_layer(cudaTextureObject_t texture, float *out) {
    int x = threadIdx.x, y = threadIdx.y, layer = threadIdx.z;
    out[(layer * blockDim.y + y) * blockDim.x + x] = tex2DLayered<float>(texture, x + 0.5f, y + 0.5f, layer);
}
__global__ void paint(cudaSurfaceObject_t surface) {
    int x = threadIdx.x, y = threadIdx.y;
    surf2Dwrite(10.0f * y + x, surface, x * 4, y);
}
__global__ void fetch(cudaTextureObject_t texture, float *out, int width, int height) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x < width && y < height) out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

__global__ void sum_in_two_steps(const int *in, int *partial, int *out) {
    extern __shared__ int room[];
    room[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < blockDim.x; i++) sum += room[i];
        partial[blockIdx.x] = sum;
    }
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *out = 0;
        for (int i = 0; i < gridDim.x; i++) *out += partial[i];
    }
}

__global__ void far_away(int *values) { values[1 << 20] = 1; }
__global__ void nothing() {}

static int symbols() {
    float host[100], some[4] = {0, 3, 0, 0}, *device;
    for (int i = 0; i < 100; i++) host[i] = i;
    CHECK(cudaMalloc(&device, sizeof host));
    CHECK(cudaMemcpyToSymbol(factors, some, sizeof some));
    CHECK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    scale<<<4, 32>>>(device, 100);
    count<<<2, 64>>>(100);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    int found;
    CHECK(cudaMemcpyFromSymbol(&found, counter, sizeof found));
    void *where;
    size_t size;
    CHECK(cudaGetSymbolAddress(&where, table));
    CHECK(cudaGetSymbolSize(&size, table));
    CHECK(cudaMemset(where, 0, 4));
    float first;
    CHECK(cudaMemcpyFromSymbol(&first, table, 4));
    printf("%g %g %d %zu %g\n", host[1], host[99], found, size, first);
    CHECK(cudaFree(device));
    return 0;
}

static void heard(void *data) { *(int *)data += 1; }

static int streams() {
    cudaStream_t one, two;
    cudaEvent_t start, end;
    int *device, *pinned, heard_of = 0;
    float milliseconds = -1;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMalloc(&device, 256 * sizeof(int)));
    CHECK(cudaMallocHost(&pinned, 256 * sizeof(int)));
    for (int i = 0; i < 256; i++) pinned[i] = i;
    CHECK(cudaEventRecord(start, one));
    CHECK(cudaMemcpyAsync(device, pinned, 256 * sizeof(int), cudaMemcpyHostToDevice, one));
    add_one<<<2, 128, 0, one>>>(device, 256);
    CHECK(cudaEventRecord(end, one));
    CHECK(cudaStreamWaitEvent(two, end, 0));
    add_one<<<2, 128, 0, two>>>(device, 256);
    CHECK(cudaLaunchHostFunc(two, heard, &heard_of));
    CHECK(cudaStreamSynchronize(two));
    CHECK(cudaEventQuery(end));
    CHECK(cudaEventElapsedTime(&milliseconds, start, end));
    CHECK(cudaMemcpy(pinned, device, 256 * sizeof(int), cudaMemcpyDefault));
    add_one<<<2, 128>>>(pinned, 256);  // the device sees pinned memory
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d %s\n", pinned[0], pinned[255], heard_of, milliseconds > 0 ? "time passed" : "no time");
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaStreamDestroy(one));
    CHECK(cudaEventDestroy(start));
    return 0;
}

static int pitched() {
    const int width = 20, height = 12;
    float host[height][width], turned[width][height], *in, *out;
    size_t in_pitch, out_pitch;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) host[y][x] = 100 * y + x;
    CHECK(cudaMallocPitch(&in, &in_pitch, width * 4, height));
    CHECK(cudaMallocPitch(&out, &out_pitch, height * 4, width));
    CHECK(cudaMemset2D(out, out_pitch, 0, height * 4, width));
    CHECK(cudaMemcpy2D(in, in_pitch, host, width * 4, width * 4, height, cudaMemcpyHostToDevice));
    transpose<<<dim3(2, 1), dim3(16, 16)>>>(in, in_pitch, out, out_pitch, width, height);
    CHECK(cudaMemcpy2D(turned, height * 4, out, out_pitch, height * 4, width, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) wrong += host[y][x] != turned[x][y];
    Uneven given = {'w', 2.5, -3};
    double *unpacked, back[3];
    CHECK(cudaMalloc(&unpacked, sizeof back));
    unpack<<<1, 1>>>(given, unpacked);
    CHECK(cudaMemcpy(back, unpacked, sizeof back, cudaMemcpyDeviceToHost));
    printf("%d wrong, %g %g %g\n", wrong, back[0], back[1], back[2]);
    return 0;
}

static int managed() {
    int *values;
    CHECK(cudaMallocManaged(&values, 100 * sizeof(int)));
    for (int i = 0; i < 100; i++) values[i] = i;
    add_one<<<1, 128>>>(values, 100);
    twice_the_number<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    values[3] += shared_number;
    add_one<<<1, 128>>>(values, 100);
    CHECK(cudaDeviceSynchronize());
    cudaPointerAttributes about;
    CHECK(cudaPointerGetAttributes(&about, values));
    printf("%d %d %d\n", values[3], values[99], about.type == cudaMemoryTypeManaged);
    CHECK(cudaFree(values));
    return 0;
}

static int errors() {
    int *device, here;
    printf("%s\n", cudaGetErrorName(cudaMalloc(&device, (size_t)1 << 40)));
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    printf("%s\n", cudaGetErrorName(cudaFree(&here)));
    printf("%s\n", cudaGetErrorName(cudaSetDevice(9)));
    cudaGetLastError();
    nothing<<<1, 5000>>>();
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    CHECK(cudaMalloc(&device, 400));
    printf("%s\n", cudaGetErrorName(cudaMemcpy(device, &here, 404, cudaMemcpyHostToDevice)));
    std::thread([] { printf("elsewhere: %s\n", cudaGetErrorName(cudaPeekAtLastError())); }).join();
    cudaGetLastError();
    far_away<<<1, 1>>>(device);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("%s\n", cudaGetErrorName(cudaMemcpy(&here, device, 4, cudaMemcpyDeviceToHost)));
    return 0;
}

static int threads() {
    const int each = 20;
    int totals[2] = {0, 0};
    auto work = [&](int which) {
        int *device, value = 100 * which;
        cudaMalloc(&device, sizeof value);
        cudaMemcpy(device, &value, sizeof value, cudaMemcpyHostToDevice);
        for (int i = 0; i < each; i++) add_one<<<1, 1>>>(device, 1);
        cudaMemcpy(&totals[which], device, sizeof value, cudaMemcpyDeviceToHost);
        cudaFree(device);
    };
    std::thread one(work, 0), two(work, 1);
    one.join();
    two.join();
    printf("%d %d\n", totals[0], totals[1]);
    return 0;
}

static int textures() {
    const int width = 8, height = 4;
    float host[width * height], *out;
    for (int i = 0; i < width * height; i++) host[i] = i * i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, width * 4, width * 4, height, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    CHECK(cudaMalloc(&out, sizeof host));
    fetch<<<1, dim3(width, height)>>>(texture, out, width, height);
    float back[width * height];
    CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    printf("%d\n", memcmp(host, back, sizeof back));
    return 0;
}

/* Coordinates are in texels, from one width to the left of the texture to two widths to its right, in quarters of a texel. */
__global__ void fetch_around(cudaTextureObject_t texture, float *out, float scale, int width) {
    out[threadIdx.x] = tex2D<float>(texture, ((int)threadIdx.x * 0.25f - width + 0.125f) * scale, 0.5f * scale);
}

/* What mirrored, repeated and clamped texels are, by where a texel comes to lie. */
static float around(const float *row, int width, int mode, int texel) {
    int turn = ((texel % (2 * width)) + 2 * width) % (2 * width);
    if (mode == cudaAddressModeMirror) return row[turn < width ? turn : 2 * width - 1 - turn];
    if (mode == cudaAddressModeWrap) return row[turn % width];
    return row[texel < 0 ? 0 : texel >= width ? width - 1 : texel];
}

static int addressing() {
    const int width = 8, count = 12 * width;
    float host[width * width], back[count], *out;
    for (int i = 0; i < width * width; i++) host[i] = i % width * (i % width) + 1;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, width, width));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, width * 4, width * 4, width, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&out, sizeof back));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    for (int normalized = 0; normalized < 2; normalized++)
        for (int linear = 0; linear < 2; linear++)
            for (int mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror}) {
                cudaTextureDesc how = {};
                how.addressMode[0] = how.addressMode[1] = (cudaTextureAddressMode)mode;
                how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
                how.normalizedCoords = normalized;
                cudaTextureObject_t texture;
                CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
                fetch_around<<<1, count>>>(texture, out, normalized ? 1.0f / width : 1.0f, width);
                CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
                int wrong = 0, meant = normalized ? mode : cudaAddressModeClamp; /* the others are for normalised ones only */
                for (int i = 0; i < count; i++) {
                    float at = i * 0.25f - width + 0.125f - (linear ? 0.5f : 0.0f), weight = linear ? at - floorf(at) : 0.0f;
                    int texel = (int)floorf(at);
                    float below = around(host, width, meant, texel), above = around(host, width, meant, texel + 1);
                    wrong += back[i] != below * (1 - weight) + above * weight;
                }
                printf("%d ", wrong);
            }
    printf("\n");
    cudaTextureDesc odd[3] = {};
    odd[0].addressMode[0] = cudaAddressModeClamp, odd[0].addressMode[1] = cudaAddressModeBorder;
    odd[1].addressMode[0] = odd[1].addressMode[1] = cudaAddressModeBorder, odd[1].borderColor[0] = 1;
    odd[2].sRGB = 1;
    for (const cudaTextureDesc &how : odd) {
        cudaTextureObject_t texture;
        printf("%s ", cudaGetErrorName(cudaCreateTextureObject(&texture, &resource, &how, nullptr)));
    }
    printf("\n");
    return 0;
}

static int layers() {
    const int width = 8, height = 4, count = 3;
    float host[count * height * width], back[count * height * width], *out;
    for (int i = 0; i < count * height * width; i++) host[i] = i * i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, count), cudaArrayLayered));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, width * 4, width, height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, height, count);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    CHECK(cudaMalloc(&out, sizeof host));
    fetch_layer<<<1, dim3(width, height, count)>>>(texture, out);
    CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    printf("%d\n", memcmp(host, back, sizeof back));
    return 0;
}

static int surfaces() {
    const int width = 8, height = 4;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    paint<<<1, dim3(width, height)>>>(surface);
    float back[width * height];
    CHECK(cudaMemcpy2DFromArray(back, width * 4, array, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
    CHECK(cudaDestroySurfaceObject(surface));
    resource.resType = cudaResourceTypeLinear;
    int wrong = cudaCreateSurfaceObject(&surface, &resource) != cudaErrorInvalidValue;
    for (int i = 0; i < width * height; i++) wrong += back[i] != 10 * (i / width) + i % width;
    printf("%d\n", wrong);
    return 0;
}

static int cooperative() {
    int host[256], *in, *partial, *out, sum = 0, found;
    for (int i = 0; i < 256; i++) sum += host[i] = i;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&partial, 4 * sizeof(int)));
    CHECK(cudaMalloc(&out, sizeof(int)));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    void *arguments[] = {&in, &partial, &out};
    CHECK(cudaLaunchCooperativeKernel((void *)sum_in_two_steps, dim3(4), dim3(64), arguments, 64 * sizeof(int), 0));
    CHECK(cudaMemcpy(&found, out, sizeof found, cudaMemcpyDeviceToHost));
    printf("%d\n", found == sum);
    return 0;
}

static int many(int launches) {
    nothing<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < launches; i++) nothing<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    return 0;
}

static int device() {
    cudaDeviceProp about;
    int threads, blocks, count;
    cudaFuncAttributes function;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaGetDeviceProperties(&about, 0));
    CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 0));
    CHECK(cudaFuncGetAttributes(&function, scale));
    printf("%d %s %d %d %d %d %d %d\n", count, about.name, about.multiProcessorCount, about.warpSize, about.maxThreadsPerMultiProcessor,
           threads, blocks, function.numRegs > 0);
    return 0;
}

// What a captured stream would have done is done when the graph is launched.
static int graphs() {
    cudaStream_t stream;
    cudaGraph_t graph, made;
    cudaGraphExec_t executable;
    cudaGraphNode_t zero, work;
    int *device, host[256], n = 256;
    size_t nodes;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&device, sizeof host));
    CHECK(cudaMemset(device, 0, sizeof host));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 3; i++) add_one<<<2, 128, 0, stream>>>(device, n);
    CHECK(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    for (int i = 0; i < 2; i++) CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("%zu %d", nodes, host[255]);

    void *arguments[] = {&device, &n};
    cudaKernelNodeParams launch = {};
    launch.func = (void *)add_one;
    launch.gridDim = dim3(2);
    launch.blockDim = dim3(128);
    launch.kernelParams = arguments;
    cudaMemsetParams zeros = {};
    zeros.dst = device;
    zeros.elementSize = 4;
    zeros.width = 256;
    zeros.height = 1;
    CHECK(cudaGraphCreate(&made, 0));
    CHECK(cudaGraphAddMemsetNode(&zero, made, nullptr, 0, &zeros));
    CHECK(cudaGraphAddKernelNode(&work, made, &zero, 1, &launch));
    CHECK(cudaGraphInstantiateWithFlags(&executable, made, 0));
    for (int i = 0; i < 2; i++) CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    printf(" %d\n", host[255]);
    return 0;
}

int main(int argc, char **argv) {
    const char *part = argc > 1 ? argv[1] : "";
    if (!strcmp(part, "symbols")) return symbols();
    if (!strcmp(part, "streams")) return streams();
    if (!strcmp(part, "graphs")) return graphs();
    if (!strcmp(part, "pitched")) return pitched();
    if (!strcmp(part, "managed")) return managed();
    if (!strcmp(part, "errors")) return errors();
    if (!strcmp(part, "threads")) return threads();
    if (!strcmp(part, "textures")) return textures();
    if (!strcmp(part, "addressing")) return addressing();
    if (!strcmp(part, "layers")) return layers();
    if (!strcmp(part, "surfaces")) return surfaces();
    if (!strcmp(part, "cooperative")) return cooperative();
    if (!strcmp(part, "device")) return device();
    if (!strcmp(part, "many")) return many(atoi(argv[2]));
    if (!strcmp(part, "missing")) {
        for (int i = 0; i < 2; i++) printf("%s\n", cudaGetErrorName(cudaGraphMemFreeNodeGetParams(nullptr, nullptr)));
        return 0;
    }
    if (!strcmp(part, "crash")) {
        nothing<<<1, 1>>>();
        raise(11);
    }
    if (!strcmp(part, "wait")) {
        nothing<<<1, 1>>>();
        printf("ready\n");
        fflush(stdout);
        for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    return 2;
}

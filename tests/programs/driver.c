/* CUDA's driver interface in the ways that programs use it: each part prints what hardware would let it print. */
#include <cuda.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(CUresult code) {
    const char *name;
    return cuGetErrorName(code, &name) ? "?" : name;
}
#define CHECK(call) do { CUresult is = (call); if (is) { printf("%s: %s\n", #call, name_of(is)); exit(1); } } while (0)

static const char *path; /* of the kernels: PTX, a cubin or a fat binary */
static CUcontext primary;

static void *contents(size_t *bytes) {
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    *bytes = ftell(file);
    rewind(file);
    char *data = calloc(1, *bytes + 1);
    if (fread(data, 1, *bytes, file) != *bytes) exit(2);
    fclose(file);
    return data;
}

static CUfunction function(const char *name) {
    CUmodule module;
    CUfunction found;
    CHECK(cuModuleLoad(&module, path));
    CHECK(cuModuleGetFunction(&found, module, name));
    return found;
}

enum { N = 1000 };
static int added(CUfunction add, float factor) {
    static float a[N], b[N], c[N];
    CUdeviceptr places[3];
    int n = N, wrong = 0;
    for (int i = 0; i < N; i++) a[i] = i, b[i] = 3 * i;
    for (int i = 0; i < 3; i++) CHECK(cuMemAlloc(&places[i], sizeof a));
    CHECK(cuMemcpyHtoD(places[0], a, sizeof a));
    CHECK(cuMemcpyHtoDAsync(places[1], b, sizeof b, NULL));
    void *arguments[] = {&places[0], &places[1], &places[2], &n};
    CHECK(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuMemcpyDtoH(c, places[2], sizeof c));
    for (int i = 0; i < N; i++) wrong += c[i] != factor * a[i] + b[i];
    for (int i = 0; i < 3; i++) CHECK(cuMemFree(places[i]));
    return wrong;
}

/* A file, the same in memory, a library; a variable that changes what the kernel computes. */
static void modules(void) {
    size_t bytes;
    void *data = contents(&bytes);
    CUmodule module;
    CUlibrary library;
    CUkernel kernel;
    CUfunction found;
    CUdeviceptr where;
    unsigned count;
    const char *name;
    float five = 5;
    int counted;
    printf("%d", added(function("add"), 2));
    CHECK(cuModuleLoadData(&module, data));
    memset(data, 0, bytes); /* it was copied */
    CHECK(cuModuleGetFunction(&found, module, "add"));
    CHECK(cuModuleGetGlobal(&where, &bytes, module, "factor"));
    CHECK(cuMemcpyHtoD(where, &five, bytes));
    printf(" %d", added(found, 5) + added(found, 5));
    CHECK(cuModuleGetGlobal(&where, &bytes, module, "counter"));
    CHECK(cuMemcpyDtoH(&counted, where, bytes));
    CHECK(cuModuleGetFunctionCount(&count, module));
    printf(" %d %u %s", counted, count, name_of(cuModuleGetFunction(&found, module, "none")));
    CHECK(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "add"));
    CHECK(cuKernelGetName(&name, kernel));
    printf(" %s %d\n", name, added((CUfunction)kernel, 2)); /* a kernel may stand where a function does */
    printf("%s %s\n", name_of(cuModuleLoad(&module, "/nowhere")), name_of(cuModuleLoadData(&module, "nonsense")));
    CHECK(cuModuleUnload(module));
}

struct many { char first; double second; int third[5]; };

/* All parameters in one buffer, and launches with attributes. */
static void launches(void) {
    struct { struct many given; CUdeviceptr out; } buffer = {{1, 0.5, {10, 20, 30, 40, 50}}};
    size_t bytes = sizeof buffer, offset, size;
    double out[5];
    int data[256], wrong = 0;
    CUfunction structured = function("structured"), reversed = function("reversed");
    CHECK(cuMemAlloc(&buffer.out, sizeof out));
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(structured, 1, 1, 1, 5, 1, 1, 0, NULL, NULL, extra));
    CHECK(cuMemcpyDtoH(out, buffer.out, sizeof out));
    CHECK(cuFuncGetParamInfo(structured, 1, &offset, &size));
    printf("%g %g %g %zu %zu", out[0], out[1], out[4], offset, size);

    CUlaunchAttribute attributes[1] = {{.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION}};
    CUlaunchConfig how = {1, 1, 1, 256, 1, 1, sizeof data, NULL, attributes, 1};
    CUdeviceptr place;
    for (int i = 0; i < 256; i++) data[i] = i;
    CHECK(cuMemAlloc(&place, sizeof data));
    CHECK(cuMemcpyHtoD(place, data, sizeof data));
    void *arguments[] = {&place};
    CHECK(cuLaunchKernelEx(&how, reversed, arguments, NULL));
    CHECK(cuMemcpyDtoH(data, place, sizeof data));
    for (int i = 0; i < 256; i++) wrong += data[i] != 255 - i;
    printf(" %d %s\n", wrong, name_of(cuLaunchKernel(reversed, 0, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL)));
}

/* Allocations of all kinds, what is known of them, copies of blocks and fills of all widths. */
static void memory(void) {
    CUdeviceptr plain, pitched, managed, pooled, start;
    void *pinned;
    size_t pitch, bytes, free_before, total;
    unsigned kind;
    int is_managed, ordinal;
    CHECK(cuMemGetInfo(&free_before, &total));
    CHECK(cuMemAlloc(&plain, 4096));
    CHECK(cuMemAllocHost(&pinned, 4096));
    CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemAllocAsync(&pooled, 4096, NULL));
    CHECK(cuMemAllocPitch(&pitched, &pitch, 100, 8, 4));
    CHECK(cuMemGetAddressRange(&start, &bytes, plain + 100));
    printf("%d %zu %zu", start == plain, bytes, pitch);
    CHECK(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, plain + 4095));
    printf(" %u", kind);
    CHECK(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)pinned));
    printf(" %u", kind);
    CHECK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    CUpointer_attribute both[] = {CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *values[] = {&kind, &ordinal};
    CHECK(cuPointerGetAttributes(2, both, values, (CUdeviceptr)&kind));
    printf(" %d %d %s\n", is_managed, ordinal, name_of(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&kind)));

    char rows[8][20], back[8][20];
    for (int i = 0; i < 160; i++) rows[i / 20][i % 20] = i;
    CUDA_MEMCPY2D there = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = rows, .srcPitch = 20, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = pitched, .dstPitch = pitch, .dstXInBytes = 4, .WidthInBytes = 20, .Height = 8};
    CUDA_MEMCPY2D again = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = pitched, .srcPitch = pitch, .srcXInBytes = 4, .srcY = 1,
                           .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = back, .dstPitch = 20, .WidthInBytes = 20, .Height = 7};
    CHECK(cuMemcpy2D(&there));
    CHECK(cuMemcpy2D(&again));
    printf("%d", memcmp(back, rows[1], 7 * 20));
    uint32_t words[1024];
    CHECK(cuMemsetD32(plain, 0x01020304, 1024));
    CHECK(cuMemsetD16(plain + 4, 0x1122, 1));
    CHECK(cuMemsetD8Async(plain + 8, 0xFF, 3, NULL));
    CHECK(cuMemsetD2D32(plain + 64, 128, 7, 2, 3));
    CHECK(cuMemcpy((CUdeviceptr)words, plain, 4096));
    printf(" %x %x %x %x %x %x", words[0], words[1], words[2], words[16], words[17 + 2 * 32], words[18 + 32]);
    CHECK(cuMemcpyDtoD(managed, plain, 4096));
    printf(" %x", *(uint32_t *)(uintptr_t)managed);
    printf(" %s %s\n", name_of(cuMemcpyHtoD(plain + 4000, words, 4096)), name_of(cuMemFree(plain + 4)));
    CHECK(cuMemFree(plain));
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFree(managed));
    CHECK(cuMemFreeAsync(pooled, NULL));
    CHECK(cuMemFree(pitched));
    CHECK(cuMemGetInfo(&bytes, &total));
    printf("%d %s\n", bytes == free_before, name_of(cuMemAlloc(&plain, (size_t)1 << 40)));
}

static void *other_thread(void *given) {
    CUcontext context = given;
    CUdeviceptr place;
    printf(" %s", name_of(cuMemAlloc(&place, 4)));
    CHECK(cuCtxSetCurrent(context));
    printf(" %s", name_of(cuMemAlloc(&place, 4)));
    return NULL;
}

/* Each thread has its contexts. */
static void contexts(void) {
    CUcontext made, found;
    CUdevice device;
    pthread_t thread;
    unsigned flags;
    int active;
    CHECK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("%d", active);
    CHECK(cuCtxCreate(&made, NULL, 0, 0));
    CHECK(cuCtxGetCurrent(&found));
    printf(" %d %d", found == made, made == primary);
    CHECK(cuCtxPopCurrent(&found));
    CHECK(cuCtxGetCurrent(&found));
    printf(" %d", found == primary);
    CHECK(cuCtxPushCurrent(made));
    pthread_create(&thread, NULL, other_thread, made);
    pthread_join(thread, NULL);
    CHECK(cuCtxDestroy(made));
    CHECK(cuCtxGetDevice(&device));
    CHECK(cuCtxPopCurrent(&found));
    printf(" %d %s\n", device, name_of(cuCtxGetDevice(&device)));
}

static void hear(void *data) { *(int *)data = 7; }

/* Streams, events, functions on the host. */
static void streams(void) {
    CUstream stream;
    CUevent start, end, never;
    float milliseconds = -1;
    int heard = 0;
    unsigned flags;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&start, 0));
    CHECK(cuEventCreate(&end, 0));
    CHECK(cuEventCreate(&never, 0));
    CHECK(cuEventRecord(start, stream));
    int wrong = added(function("add"), 2);
    CHECK(cuEventRecord(end, stream));
    CHECK(cuStreamWaitEvent(stream, end, 0));
    CHECK(cuLaunchHostFunc(stream, hear, &heard));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuEventElapsedTime(&milliseconds, start, end));
    CHECK(cuStreamGetFlags(stream, &flags));
    printf("%d %d %u %s %s\n", wrong, heard, flags, milliseconds > 0 ? "time passed" : "no time", name_of(cuEventElapsedTime(&milliseconds, start, never)));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuEventDestroy(start));
}

/* What can be asked of a kernel. */
static void kernels(void) {
    CUfunction reversed = function("reversed");
    int threads, registers, shared, blocks, least, best;
    CHECK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, reversed));
    CHECK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, reversed));
    CHECK(cuFuncSetAttribute(reversed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 20000));
    CHECK(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, reversed));
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reversed, 256, 16 << 10));
    CHECK(cuOccupancyMaxPotentialBlockSize(&least, &best, reversed, NULL, 0, 512));
    CUlaunchAttribute together = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {2, 1, 1}};
    CUlaunchConfig how = {4, 1, 1, 256, 1, 1, 16 << 10, NULL, &together, 1};
    size_t left;
    int clusters;
    CHECK(cuOccupancyMaxActiveClusters(&clusters, reversed, &how));
    CHECK(cuOccupancyAvailableDynamicSMemPerBlock(&left, reversed, 3, 256));
    printf("%d %zu ", clusters, left);
    printf("%d %d %d %d %d %d %s\n", threads, registers > 0, shared, blocks, least, best,
           name_of(cuFuncSetAttribute(reversed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20)));
}

/* Functions by name and version. */
static void entries(void) {
    void *old, *newer, *each;
    CUdriverProcAddressQueryResult result;
    int version;
    CHECK(cuGetProcAddress("cuMemAlloc", &old, 2000, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
    CHECK(cuGetProcAddress("cuMemAlloc", &newer, 13000, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
    CHECK(cuGetProcAddress("cuLaunchKernel", &each, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
    printf("%d %d %d", newer == (void *)cuMemAlloc, old == newer, each != NULL);
    CUresult none = cuGetProcAddress("cuNothing", &each, 13000, 0, &result);
    printf(" %s %d %d", name_of(none), each != NULL, result);
    none = cuGetProcAddress("cuLibraryLoadData", &each, 11000, 0, &result);
    CHECK(cuDriverGetVersion(&version));
    printf(" %s %d %d\n", name_of(none), result, version);
}

/* What goes wrong in a kernel comes out with the next call that waits for it. */
static void errors(void) {
    CUdeviceptr place;
    const char *words;
    CUfunction far_away = function("far_away");
    CHECK(cuMemAlloc(&place, 4));
    void *arguments[] = {&place};
    printf("%s", name_of(cuLaunchKernel(far_away, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL)));
    CUresult code = cuCtxSynchronize();
    CHECK(cuGetErrorString(code, &words));
    printf(" %s: %s, %s\n", name_of(code), words, name_of((CUresult)12345));
}

static void count_up(void *data) { ++*(int *)data; }

/* Work that is noted in streams and node by node, and done when the graph is launched. */
static void graphs(void) {
    static float a[N], c[N];
    CUdeviceptr places[2];
    CUstream first, second;
    CUevent fork, join;
    CUgraph graph, made, again;
    CUgraphExec executable;
    CUgraphNode nodes[8], node, set;
    CUgraphExecUpdateResultInfo info;
    CUstreamCaptureStatus state;
    size_t count = 8, roots = 1;
    int n = N, calls = 0, wrong = 0;
    CUfunction add = function("add");
    for (int i = 0; i < N; i++) a[i] = i;
    for (int i = 0; i < 2; i++) CHECK(cuMemAlloc(&places[i], sizeof a));
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&fork, 0));
    CHECK(cuEventCreate(&join, 0));
    void *arguments[] = {&places[0], &places[1], &places[1], &n}; /* the sum grows with every launch */
    CHECK(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyHtoDAsync(places[0], a, sizeof a, first));
    CHECK(cuEventRecord(fork, first));
    CHECK(cuStreamWaitEvent(second, fork, 0));
    CHECK(cuLaunchHostFunc(second, count_up, &calls));
    CHECK(cuEventRecord(join, second));
    CHECK(cuStreamWaitEvent(first, join, 0));
    CHECK(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, first, arguments, NULL));
    CHECK(cuMemcpyDtoHAsync(c, places[1], sizeof c, first));
    CHECK(cuStreamIsCapturing(second, &state));
    printf("%d %s", state, name_of(cuStreamSynchronize(first)));
    CHECK(cuStreamEndCapture(first, &graph));
    CHECK(cuStreamIsCapturing(second, &state));
    CHECK(cuGraphGetNodes(graph, nodes, &count));
    CHECK(cuGraphGetRootNodes(graph, &node, &roots));
    printf(" %d %zu %zu %d\n", state, count, roots, calls);
    CHECK(cuMemsetD32(places[1], 0, N));
    CHECK(cuGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; i++) CHECK(cuGraphLaunch(executable, first));
    CHECK(cuStreamSynchronize(first));
    for (int i = 0; i < N; i++) wrong += c[i] != 6 * a[i];
    printf("%d %d", calls, wrong);

    CUDA_MEMSET_NODE_PARAMS zeros = {.dst = places[1], .elementSize = 4, .width = N, .height = 1};
    CUDA_KERNEL_NODE_PARAMS launch;
    CHECK(cuGraphKernelNodeGetParams(nodes[2], &launch));
    CHECK(cuGraphCreate(&made, 0));
    CHECK(cuGraphAddKernelNode(&node, made, NULL, 0, &launch)); /* before what it depends on is there */
    CHECK(cuGraphAddMemsetNode(&set, made, NULL, 0, &zeros, primary));
    CHECK(cuGraphAddDependencies(made, &set, &node, NULL, 1));
    printf(" %s", name_of(cuGraphExecUpdate(executable, made, &info)));
    CHECK(cuGraphClone(&again, made));
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphInstantiate(&executable, again, 0));
    CHECK(cuGraphLaunch(executable, second));
    CHECK(cuGraphLaunch(executable, second));
    CHECK(cuMemcpyDtoH(c, places[1], sizeof c));
    printf(" %g", c[10]);
    launch.gridDimX = 1; /* so that most stays as it was set */
    CHECK(cuGraphNodeFindInClone(&node, node, again));
    CHECK(cuGraphExecKernelNodeSetParams(executable, node, &launch));
    CHECK(cuGraphLaunch(executable, NULL));
    CHECK(cuMemcpyDtoH(c, places[1], sizeof c));
    printf(" %g %g\n", c[127], c[128]);
    CUuserObject object;
    CHECK(cuUserObjectCreate(&object, &calls, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    CHECK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphInstantiate(&executable, graph, 0));
    CHECK(cuGraphDestroy(graph));
    printf("%d", calls);
    CHECK(cuGraphExecDestroy(executable));
    printf(" %d\n", calls);
}

/* Memory and addresses apart: two pieces side by side, one of which moves. */
static void mapped(void) {
    CUmemAllocationProp how = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {.location = how.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle pieces[2];
    CUdeviceptr start, plain, other;
    size_t piece, before, after, total;
    uint32_t words[2];
    CHECK(cuMemGetAllocationGranularity(&piece, &how, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(cuMemGetInfo(&before, &total));
    CHECK(cuMemAddressReserve(&start, 4 * piece, 0, 0, 0));
    CHECK(cuMemAddressReserve(&other, piece, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        CHECK(cuMemCreate(&pieces[i], piece, &how, 0));
        CHECK(cuMemMap(start + i * piece, piece, 0, pieces[i], 0));
    }
    printf("%zu %s", piece >> 20, name_of(cuMemcpyHtoD(start, words, 8)));
    CHECK(cuMemSetAccess(start, 2 * piece, &access, 1));
    CHECK(cuMemAlloc(&plain, 1 << 20)); /* not in the range */
    printf(" %d", start <= plain && plain < start + 4 * piece);
    CHECK(cuMemsetD32(start, 7, piece / 2)); /* over both */
    CHECK(cuMemcpyDtoH(words, start + piece - 4, 8));
    printf(" %u %u %s", words[0], words[1], name_of(cuMemcpyDtoH(words, start + 2 * piece - 4, 8)));
    CHECK(cuMemUnmap(start + piece, piece));
    CHECK(cuMemMap(other, piece, 0, pieces[1], 0));
    CHECK(cuMemSetAccess(other, piece, &access, 1));
    CHECK(cuMemcpyDtoH(words, other + piece - 8, 8));
    printf(" %u %s", words[1], name_of(cuMemcpyDtoH(words, start + piece, 4)));
    CHECK(cuMemUnmap(start, piece));
    CHECK(cuMemUnmap(other, piece));
    for (int i = 0; i < 2; i++) CHECK(cuMemRelease(pieces[i]));
    CHECK(cuMemAddressFree(start, 4 * piece));
    CHECK(cuMemAddressFree(other, piece));
    CHECK(cuMemFree(plain));
    CHECK(cuMemGetInfo(&after, &total));
    printf(" %d %s\n", before == after, name_of(cuMemCreate(&pieces[0], (size_t)1 << 40, &how, 0)));
}

/* What describes a tensor. */
static void tensors(void) {
    CUtensorMap map, moved;
    cuuint64_t sizes[] = {256, 512}, strides[] = {512};
    cuuint32_t box[] = {64, 32}, steps[] = {1, 1};
    for (CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B; swizzle >= CU_TENSOR_MAP_SWIZZLE_64B; swizzle--)
        printf("%s ", name_of(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)0x7f0000001000, sizes, strides,
                                                     box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                                     CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)));
    CHECK(cuTensorMapEncodeTiled(&moved, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)0x2000, sizes, strides, box, steps, 0,
                                 CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 0));
    CHECK(cuTensorMapReplaceAddress(&moved, (void *)0x7f0000001000));
    printf("%d\n", memcmp(&map, &moved, sizeof map));
}

static void missing(void) {
    CUarray array;
    printf("%s\n", name_of(cuMipmappedArrayGetLevel(&array, NULL, 0)));
    printf("%s\n", name_of(cuMipmappedArrayGetLevel(&array, NULL, 0)));
}

/* More than 4 GiB, of which little is touched: 100 GiB, with data near their end. */
static void large(void) {
    const size_t gib = (size_t)1 << 30;
    int data[32], got[32];
    size_t available, total;
    CUdeviceptr where, more;
    unsigned char last;
    CUfunction reversed = function("reversed");
    CHECK(cuMemGetInfo(&available, &total));
    printf("%zu %zu", total >> 20, (total - available) >> 20);
    CHECK(cuMemAlloc(&where, 100 * gib));
    printf(" %s", name_of(cuMemAlloc(&more, 50 * gib)));
    CHECK(cuMemGetInfo(&available, &total));
    printf(" %zu\n", (total - available) >> 30);
    CUdeviceptr far = where + 99 * gib, farther = where + 99 * gib + gib / 2;
    for (int i = 0; i < 32; i++) data[i] = i;
    CHECK(cuMemcpyHtoD(far, data, sizeof data));
    void *arguments[] = {&far};
    CHECK(cuLaunchKernel(reversed, 1, 1, 1, 32, 1, 1, sizeof data, NULL, arguments, NULL));
    CHECK(cuMemcpyDtoH(got, far, sizeof got));
    CHECK(cuMemsetD8(farther, 7, 1000));
    CHECK(cuMemcpyDtoD(where, farther, 1000));
    CHECK(cuMemcpyDtoH(&last, where + 999, 1));
    printf("%d %d %d", got[0], got[31], last);
    CHECK(cuMemFree(where));
    CHECK(cuMemAlloc(&where, 100 * gib));
    CHECK(cuMemcpyDtoH(got, far, sizeof got));
    printf(" %d\n", got[0]);
    CHECK(cuMemFree(where));
}

/* Threads with a stream and memory of their own each, and one kernel. */
enum { THREADS = 4, TURNS = 5, LENGTH = 32 };
static CUfunction turned;
static void *one_of_many(void *given) {
    int data[LENGTH], *wrong = given;
    CUstream stream;
    CUdeviceptr where;
    CHECK(cuCtxSetCurrent(primary));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&where, sizeof data));
    for (int i = 0; i < LENGTH; i++) data[i] = i;
    for (int turn = 0; turn < TURNS; turn++) {
        void *arguments[] = {&where};
        CHECK(cuMemcpyHtoDAsync(where, data, sizeof data, stream));
        CHECK(cuLaunchKernel(turned, 1, 1, 1, LENGTH, 1, 1, sizeof data, stream, arguments, NULL));
        CHECK(cuMemcpyDtoHAsync(data, where, sizeof data, stream));
        CHECK(cuStreamSynchronize(stream));
    }
    for (int i = 0; i < LENGTH; i++) *wrong += data[i] != LENGTH - 1 - i; /* turned an odd number of times */
    CHECK(cuMemFree(where));
    return NULL;
}
static void parallel(void) {
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0}, all = 0;
    turned = function("reversed");
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, one_of_many, &wrong[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL), all += wrong[i];
    printf("%d\n", all);
}

/* What a kernel says of its shared memory is what it declares, without what the system has reserved. */
static void standing(void) {
    int bytes;
    CHECK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function("standing")));
    printf("%d", bytes);
    CHECK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function("add")));
    printf(" %d\n", bytes);
}

static const struct { const char *name; void (*part)(void); } parts[] = {
    {"modules", modules}, {"launches", launches}, {"memory", memory}, {"contexts", contexts}, {"streams", streams},
    {"kernels", kernels}, {"entries", entries}, {"errors", errors}, {"missing", missing},
    {"graphs", graphs}, {"mapped", mapped}, {"tensors", tensors}, {"large", large}, {"parallel", parallel}, {"standing", standing},
};

int main(int count, char **arguments) {
    CUdevice device;
    if (count != 3) return 2;
    path = arguments[2];
    printf("%s ", name_of(cuDeviceGet(&device, 0)));
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&primary, device));
    CHECK(cuCtxSetCurrent(primary));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(parts[i].name, arguments[1])) parts[i].part();
    return 0;
}

/* PyTorch takes cuDNN where it can, and cuDNN has a copy of CUDA's runtime inside that works with NVIDIA's driver alone. PyTorch has switches
   for that, `torch.backends.cudnn.enabled` and `torch.backends.cuda.enable_cudnn_sdp`: they are set before it uses the device. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void switch_off(void) {
    void *library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return;
    void *(*context)(void) = dlsym(library, "_ZN2at13globalContextEv");
    void (*convolutions)(void *, int) = dlsym(library, "_ZN2at7Context19setUserEnabledCuDNNEb");
    void (*attention)(void *, int) = dlsym(library, "_ZN2at7Context14setSDPUseCuDNNEb");
    if (!context || !convolutions || !attention) return;
    convolutions(context(), 0);
    attention(context(), 0);
    fprintf(stderr, "warploom: PyTorch is told to do without cuDNN, which works with NVIDIA's driver alone\n");
}

void do_without_cudnn(void) {
    static pthread_once_t done = PTHREAD_ONCE_INIT;
    pthread_once(&done, switch_off);
}

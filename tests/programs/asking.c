/* A program that asks for what is not there, and ends as it wants to. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_CODE = 7 };

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    CUdevice device;
    if (cuInit(0) || cuDeviceGet(&device, 0)) return 1;
    if (!strcmp(what, "device"))
        for (int i = 0; i < 2; i++) printf("%d\n", cuDeviceGet(&device, 1));
    if (!strcmp(what, "table")) { /* as JAX's libraries do, which bring CUDA's runtime along */
        const void *table;
        CUuuid id = {{0}};
        for (int i = 0; i < 2; i++) printf("%d\n", cuGetExportTable(&table, &id));
    }
    if (!strcmp(what, "call")) {
        CUarray array;
        for (int i = 0; i < 2; i++) printf("%d\n", cuMipmappedArrayGetLevel(&array, NULL, 0));
    }
    return OWN_CODE;
}

/* Functions of the interface that other parts of the library call. */
#ifndef CALLS_H
#define CALLS_H

#include "driver.h"

status cuMemGetInfo_v2(size_t *available, size_t *total);
status cuLaunchKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **arguments, void **extra);
status cuMemcpy3D_v2(const void *how);
status cuMemsetD2D8_v2(address to, size_t pitch, unsigned char value, size_t width, size_t height);
status cuMemsetD2D16_v2(address to, size_t pitch, unsigned short value, size_t width, size_t height);
status cuMemsetD2D32_v2(address to, size_t pitch, unsigned value, size_t width, size_t height);

#endif

/* What the library asks of Warploom: name, words given, whether data follows. The server reads this list too; the order is the
   number. After the arrow: what the answer holds. */
OPERATION(HELLO, 1, 0)          /* the process -> address and bytes of device memory, whether a recording is made */
OPERATION(MODULE, 0, 1)         /* a fat binary, a cubin or PTX -> a module */
OPERATION(KERNELS_OF, 1, 0)        /* module, which is read now -> how many kernels, bytes of their names; the names, each ended by a zero */
OPERATION(KERNEL, 1, 1)         /* module, name -> a kernel, bytes of its parameters; offset and size of each */
OPERATION(VARIABLE, 2, 1)       /* module, whether the host sees it, name -> address, bytes */
OPERATION(UNLOAD, 1, 0)         /* module */
OPERATION(ALLOCATE, 2, 0)       /* bytes, kind of memory -> address */
OPERATION(FREE, 2, 0)           /* address, kind of memory */
OPERATION(RESERVE, 2, 0)        /* bytes, alignment -> address of a range that nothing else will lie in */
OPERATION(UNRESERVE, 2, 0)      /* address, bytes */
OPERATION(MAP, 2, 0)            /* address, bytes: memory in such a range */
OPERATION(MEMORY_INFO, 0, 0)    /* -> free and total bytes */
OPERATION(POINTER, 1, 0)        /* address -> kind of memory, start and bytes of its allocation */
OPERATION(COPY, 10, 0)           /* target, pitch, slice, source, pitch, slice, width, rows, slices, kind -> whether COPIED is wanted */
OPERATION(COPIED, 0, 0)         /* the last copy has been made */
OPERATION(FILL, 7, 0)           /* address, pitch, slice, width, rows, slices, byte */
OPERATION(LAUNCH, 11, 1)         /* kernel, grid, block, dynamic bytes, stream, whether cooperative, cluster (16 bits each); parameters */
OPERATION(SYNCHRONIZE, 0, 0)
OPERATION(EVENT, 0, 0)          /* -> simulated nanoseconds since the start */
OPERATION(DEVICE_NAME, 0, 0)    /* -> the device's name */
OPERATION(PROPERTIES, 1, 0)     /* -> cudaDeviceProp of the version */
OPERATION(ATTRIBUTES, 0, 0)     /* -> how many; all of them by number, 32 bits each */
OPERATION(FUNCTION, 1, 0)       /* kernel -> registers, shared, constant, local bytes, most threads of a block, architecture */
OPERATION(OCCUPANCY, 3, 0)      /* kernel, threads, dynamic bytes -> blocks per SM */
OPERATION(TEXTURE, 8, 0)        /* address, width, height, depth, pitch, bits of the channels, kind of channel, how it is read -> handle */
OPERATION(NO_TEXTURE, 1, 0)     /* handle */
OPERATION(TENSOR_MAP, 0, 1)     /* what describes a tensor -> the 128 bytes of its map */
OPERATION(LIMIT, 2, 0)          /* number, value */

/* Beside a real GPU: what was done there. */
OPERATION(PLACED, 3, 1)      /* module, address, bytes; name of a variable */
OPERATION(ALLOCATED, 3, 0)   /* address, bytes, kind of memory */
OPERATION(WROTE, 6, 1)       /* address, pitch, slice, width, rows, slices; the rows one after the other */
OPERATION(WANTED, 2, 1)      /* kernel, 1: what was wanted before has been shown, 2: the launch has been made; its parameters -> how many
                                ranges of memory are wanted, whether the launch is noted; address and bytes of each */
OPERATION(READ_BACK, 6, 1)   /* the same, for what the program got from the device */
OPERATION(MOVED, 9, 0)       /* target, pitch, slice, source, pitch, slice, width, rows, slices */

/* There is one device, whatever is asked for. */
#include <stdio.h>

#include "warploom.h"

status only_device(int device) {
    static int said;
    if (!device) return SUCCESS;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "warploom: the program asks for device %d, but there is one, device 0; it gets the error for an invalid device\n",
                device);
    return INVALID_DEVICE;
}

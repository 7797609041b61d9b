/* Contexts: the device's primary one, and those that the program makes. */
#include <stdlib.h>

#include "driver.h"

enum { SCHEDULING = 7, MAPS_HOST = 8, API_VERSION = 3020 };

API status cuDevicePrimaryCtxRetain(struct context **context, int device) {
    if (device) return INVALID_DEVICE;
    __atomic_add_fetch(&primary_context()->users, 1, __ATOMIC_RELAXED);
    *context = primary_context();
    return SUCCESS;
}
API status cuDevicePrimaryCtxRelease_v2(int device) {
    if (device) return INVALID_DEVICE;
    if (!primary_context()->users) return INVALID_CONTEXT;
    __atomic_sub_fetch(&primary_context()->users, 1, __ATOMIC_RELAXED);
    return SUCCESS;
}
API status cuDevicePrimaryCtxRelease(int device) { return cuDevicePrimaryCtxRelease_v2(device); }
API status cuDevicePrimaryCtxReset_v2(int device) { return device ? INVALID_DEVICE : SUCCESS; }
API status cuDevicePrimaryCtxReset(int device) { return cuDevicePrimaryCtxReset_v2(device); }
API status cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    if (device) return INVALID_DEVICE;
    *flags = primary_context()->flags;
    *active = primary_context()->users > 0 || current_context() == primary_context();
    return SUCCESS;
}
API status cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    if (device) return INVALID_DEVICE;
    primary_context()->flags = flags;
    return SUCCESS;
}
API status cuDevicePrimaryCtxSetFlags(int device, unsigned flags) { return cuDevicePrimaryCtxSetFlags_v2(device, flags); }

API status cuCtxCreate_v2(struct context **context, unsigned flags, int device) {
    if (device) return INVALID_DEVICE;
    *context = calloc(1, sizeof **context);
    (*context)->flags = flags;
    return push_context(*context);
}
API status cuCtxCreate_v3(struct context **context, void *affinities, int count, unsigned flags, int device) {
    return (void)affinities, count ? NOT_SUPPORTED : cuCtxCreate_v2(context, flags, device);
}
API status cuCtxCreate_v4(struct context **context, void *parameters, unsigned flags, int device) {
    return (void)parameters, cuCtxCreate_v2(context, flags, device);
}
API status cuCtxDestroy_v2(struct context *context) {
    if (!context || context->primary) return INVALID_CONTEXT;
    if (current_context() == context) pop_context(NULL);
    free(context);
    return SUCCESS;
}
API status cuCtxDestroy(struct context *context) { return cuCtxDestroy_v2(context); }
API status cuCtxAttach(struct context **context, unsigned flags) {
    return (void)flags, *context = current_context(), *context ? SUCCESS : INVALID_CONTEXT;
}
API status cuCtxDetach(struct context *context) { return context ? SUCCESS : INVALID_CONTEXT; }
API status cuCtxPushCurrent_v2(struct context *context) { return push_context(context); }
API status cuCtxPushCurrent(struct context *context) { return push_context(context); }
API status cuCtxPopCurrent_v2(struct context **context) { return pop_context(context); }
API status cuCtxPopCurrent(struct context **context) { return pop_context(context); }
API status cuCtxSetCurrent(struct context *context) { return set_context(context), SUCCESS; }
API status cuCtxGetCurrent(struct context **context) { return *context = current_context(), SUCCESS; }
API status cuCtxGetDevice(int *device) {
    *device = 0;
    return current_context() ? SUCCESS : INVALID_CONTEXT;
}
API status cuCtxGetDevice_v2(int *device, struct context *context) { return *device = 0, context ? SUCCESS : cuCtxGetDevice(device); }
API status cuCtxGetFlags(unsigned *flags) {
    if (!current_context()) return INVALID_CONTEXT;
    *flags = current_context()->flags;
    return SUCCESS;
}
API status cuCtxSetFlags(unsigned flags) {
    if (!current_context()) return INVALID_CONTEXT;
    current_context()->flags = flags & (SCHEDULING | MAPS_HOST);
    return SUCCESS;
}
API status cuCtxGetId(struct context *context, word *id) {
    if (!context) context = current_context();
    if (!context) return INVALID_CONTEXT;
    *id = context->primary ? 1 : AS_WORD(context);
    return SUCCESS;
}
API status cuCtxGetApiVersion(struct context *context, unsigned *version) { return (void)context, *version = API_VERSION, SUCCESS; }
API status cuCtxSynchronize(void) {
    status outcome = in_context();
    return outcome ? outcome : checked(ASK(SYNCHRONIZE, NULL, 0));
}
API status cuCtxSynchronize_v2(struct context *context) { return (void)context, checked(ASK(SYNCHRONIZE, NULL, 0)); }
API status cuCtxGetLimit(size_t *value, int number) { return get_limit(number, (word *)value); }
API status cuCtxSetLimit(int number, size_t value) { return set_limit(number, value); }
API status cuCtxGetCacheConfig(int *preference) { return *preference = 0, in_context(); }
API status cuCtxSetCacheConfig(int preference) { return (void)preference, in_context(); }
API status cuCtxGetSharedMemConfig(int *preference) { return *preference = 1, in_context(); }
API status cuCtxSetSharedMemConfig(int preference) { return (void)preference, in_context(); }
API status cuCtxResetPersistingL2Cache(void) { return in_context(); }
API status cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return in_context();
}

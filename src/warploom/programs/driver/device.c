/* The device: one, whatever is asked. */
#include <stdio.h>
#include <string.h>

#include "driver.h"

static int initialised; /* by cuInit; the runtime does the same */

static int is_initialised(void) { return initialised || has_been_used(); }

/* The simulator is called here, so that a program hears of what is wrong where it expects to. */
API status cuInit(unsigned flags) {
    if (flags) return INVALID_VALUE;
    status outcome = ASK(SYNCHRONIZE, NULL, 0);
    if (!outcome) initialised = 1;
    return outcome;
}

static status on_device(int device) { return !is_initialised() ? NOT_INITIALIZED : device ? INVALID_DEVICE : SUCCESS; }

status in_context(void) { return current_context() ? SUCCESS : is_initialised() ? INVALID_CONTEXT : NOT_INITIALIZED; }

API status cuDriverGetVersion(int *version) { return version ? *version = VERSION, SUCCESS : INVALID_VALUE; }
API status cuDeviceGetCount(int *count) { return is_initialised() ? *count = 1, SUCCESS : NOT_INITIALIZED; }
API status cuDeviceGet(int *device, int number) {
    status outcome = is_initialised() ? only_device(number) : NOT_INITIALIZED;
    return outcome ? outcome : (*device = 0, SUCCESS);
}
API status cuDeviceGetAttribute(int *value, int number, int device) {
    status outcome = on_device(device);
    return outcome ? outcome : attribute(number, value);
}
API status cuDeviceComputeCapability(int *major, int *minor, int device) {
    enum { MAJOR = 75, MINOR = 76 };
    status outcome = cuDeviceGetAttribute(major, MAJOR, device);
    return outcome ? outcome : attribute(MINOR, minor);
}
API status cuDeviceTotalMem_v2(size_t *bytes, int device) {
    word answer[ANSWER_WORDS];
    status outcome = on_device(device);
    if (!outcome) outcome = ASK(MEMORY_INFO, answer, 0);
    if (!outcome) *bytes = answer[1];
    return outcome;
}
API status cuDeviceGetName(char *name, int room, int device) {
    char whole[64] = "";
    status outcome = on_device(device);
    if (outcome || room < 1) return outcome ? outcome : INVALID_VALUE;
    outcome = ask(DEVICE_NAME, 0, NULL, NULL, 0, NULL, whole, sizeof whole - 1);
    if (!outcome) snprintf(name, room, "%s", whole);
    return outcome;
}
API status cuDeviceGetUuid(unsigned char id[16], int device) {
    memset(id, 0, 16);
    return on_device(device);
}
API status cuDeviceGetUuid_v2(unsigned char id[16], int device) { return cuDeviceGetUuid(id, device); }
API status cuDeviceGetLuid(char *id, unsigned *nodes, int device) {
    memset(id, 0, 8);
    *nodes = 0;
    return on_device(device);
}
API status cuDeviceGetPCIBusId(char *id, int room, int device) {
    snprintf(id, room, "0000:00:00.0");
    return on_device(device);
}
API status cuDeviceGetByPCIBusId(int *device, const char *id) {
    return strcmp(id, "0000:00:00.0") ? INVALID_DEVICE : (*device = 0, SUCCESS);
}
API status cuDeviceGetExecAffinitySupport(int *supported, int type, int device) {
    (void)type;
    *supported = 0;
    return on_device(device);
}
API status cuDeviceGetTexture1DLinearMaxWidth(size_t *most, int format, unsigned channels, int device) {
    (void)format, (void)channels;
    *most = (size_t)1 << 27;
    return on_device(device);
}
API status cuDeviceCanAccessPeer(int *can, int device, int peer) {
    *can = 0;
    return device || peer ? INVALID_DEVICE : SUCCESS;
}
API status cuDeviceGetP2PAttribute(int *value, int number, int device, int peer) {
    (void)number, (void)device, (void)peer;
    *value = 0;
    return INVALID_DEVICE;
}
API status cuCtxEnablePeerAccess(void *peer, unsigned flags) { return (void)peer, (void)flags, INVALID_DEVICE; }
API status cuCtxDisablePeerAccess(void *peer) { return (void)peer, PEER_NOT_ENABLED; }
API status cuDeviceGetGraphMemAttribute(int device, int number, word *value) {
    (void)number;
    *value = 0;
    return on_device(device);
}
API status cuDeviceGraphMemTrim(int device) { return on_device(device); }
API status cuFlushGPUDirectRDMAWrites(int target, int scope) { return (void)target, (void)scope, SUCCESS; }
API status cuProfilerStart(void) { return SUCCESS; }
API status cuProfilerStop(void) { return SUCCESS; }

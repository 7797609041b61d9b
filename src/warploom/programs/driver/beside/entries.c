/* How programs find functions, besides by linking. Private tables are the driver's own, and so is what is asked of them. */
#include "driver/beside/beside.h"

static status found(status outcome, void **function) {
    if (!outcome) *function = ours_for(*function);
    return outcome;
}
API status cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *result) {
    return found(REAL(cuGetProcAddress_v2)(name, function, version, flags, result), function);
}
API status cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    return found(REAL(cuGetProcAddress)(name, function, version, flags), function);
}

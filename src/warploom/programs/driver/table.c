/* All functions of the driver's interface by the names and versions under which programs look for them. */
#include "driver.h"

#define ENTRY(symbol, name, version, per_thread) status symbol(void);
#include "entries.inc"
#undef ENTRY

const struct entry entries[] = {
#define ENTRY(symbol, name, version, per_thread) {#name, version, per_thread, symbol},
#include "entries.inc"
#undef ENTRY
    {0},
};

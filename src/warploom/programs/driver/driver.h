/* CUDA's driver interface: its types as far as they are needed, and what the parts of this library share. */
#ifndef DRIVER_H
#define DRIVER_H

#include "warploom.h"

typedef word address; /* CUdeviceptr */

enum {
    OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, PRIMARY_ACTIVE = 708, FILE_NOT_FOUND = 301,
    NOT_FOUND = 500, PEER_NOT_ENABLED = 705, NOT_PERMITTED = 800
};
enum { VERSION = 13000 }; /* of the interface, which runtimes 13.0 to 13.2 are content with */

struct module { struct image image; char **names; word count; struct kernel **kernels; char *text; };

struct entry { const char *name; int version, per_thread; status (*function)(void); };
extern const struct entry entries[]; /* the last has no name */

status in_context(void); /* SUCCESS where the driver is initialised and the thread has a context */
status missing(const char *name, int *said);
status checked(status outcome); /* a status of the runtime as the driver names it */

#endif

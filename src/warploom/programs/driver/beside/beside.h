/* What the parts of the recorder share that stands in front of the real driver. */
#ifndef BESIDE_H
#define BESIDE_H

#include "warploom.h"

typedef word address; /* CUdeviceptr */

enum {
#define PLACE(symbol) AT_##symbol,
#include "driver/places.inc"
#undef PLACE
    ENTRIES
};

extern void *warploom_real[] __attribute__((visibility("hidden"))); /* the driver's functions, in the order of the table */

/* The real function of the same type as the one that stands here. */
#define REAL(name) ((__typeof__(&name))warploom_real[AT_##name])

/* One call at a time is made and noted, whatever thread makes it, so that the order of the notes is the order of the calls. */
#define IN_TURN(outcome) (take_turn(), in_turn(outcome))
static inline status in_turn(status outcome) { return give_turn(), outcome; }

enum { VARIABLE_MEMORY = 4 }; /* a kind besides those of allocations */

struct noted { word start, bytes; int kind; };

void *ours_for(void *function);

status noted_module(status outcome, void **module, const void *image, void *copy);
struct image *image_of(void *module);
struct kernel *kernel_of(void *function);

status noted_allocation(status outcome, word start, word bytes, int kind);
void forget_allocation(word start);
const struct noted *allocation_of(word where);
unsigned host_allocations(struct noted *found, unsigned room);

int is_captured(void *stream);
void finish_all(void);
void tell_block(int operation, word device, word pitch, word slice, const void *host, word host_pitch, word host_slice, word width,
                word rows, word slices);
void unrecorded(const char *name);

#endif

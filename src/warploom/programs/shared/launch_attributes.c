/* What a launch says of itself besides its shape. */
#include "warploom.h"

/* Of the attributes of a launch those that change what is computed; the others are hints. */
void read_attributes(struct shape *shape, const struct launch_attribute *attributes, unsigned count) {
    enum { COOPERATIVE = 2, CLUSTER_DIMENSION = 4 };
    for (unsigned i = 0; i < count; i++) {
        const struct launch_attribute *each = &attributes[i];
        if (each->id == COOPERATIVE) shape->cooperative = each->value.number;
        if (each->id == CLUSTER_DIMENSION) shape->cluster = (dim3){each->value.shape[0], each->value.shape[1], each->value.shape[2]};
    }
}

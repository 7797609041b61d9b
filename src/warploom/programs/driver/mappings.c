/* Memory and addresses apart: memory is made, a range of addresses is reserved, and one appears in the other. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

struct place { int type, id; };
struct properties { int type, handles; struct place where; void *security; unsigned char more[8]; };
struct access { struct place where; int flags; };
struct memory {
    word bytes;
    struct properties properties;
    int users;
    struct mapping *mapped;
    char *kept; /* its contents while it is nowhere */
};
struct mapping { address start; word bytes; struct memory *memory; int flags; struct mapping *next; };
enum { GRANULARITY = 2 << 20, DEVICE_PLACE = 1, PINNED_TYPE = 1, NOT_MAPPED = 211 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping *mappings;

API status cuMemGetAllocationGranularity(size_t *bytes, const struct properties *how, int option) {
    (void)how, (void)option;
    return bytes ? *bytes = GRANULARITY, SUCCESS : INVALID_VALUE;
}

API status cuMemCreate(struct memory **memory, size_t bytes, const struct properties *how, uint64_t flags) {
    size_t available, total;
    status outcome = in_context();
    if (outcome) return outcome;
    if (!memory || !how || flags || !bytes || bytes % GRANULARITY || how->type != PINNED_TYPE) return INVALID_VALUE;
    if (how->where.type != DEVICE_PLACE || how->where.id || how->handles) return how->where.id ? INVALID_DEVICE : NOT_SUPPORTED;
    outcome = cuMemGetInfo_v2(&available, &total);
    if (!outcome && bytes > available) outcome = OUT_OF_MEMORY;
    if (outcome) return outcome;
    *memory = calloc(1, sizeof **memory);
    **memory = (struct memory){.bytes = bytes, .properties = *how, .users = 1};
    return SUCCESS;
}

static void let_go(struct memory *memory) {
    if (--memory->users || memory->mapped) return;
    free(memory->kept);
    free(memory);
}

API status cuMemRelease(struct memory *memory) {
    if (!memory) return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    let_go(memory);
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

API status cuMemAddressReserve(address *start, size_t bytes, size_t alignment, address wanted, uint64_t flags) {
    word answer[ANSWER_WORDS];
    (void)wanted; /* a wish */
    if (!start || !bytes || bytes % GRANULARITY || flags || alignment & (alignment - 1)) return INVALID_VALUE;
    status outcome = ASK(RESERVE, answer, bytes, alignment > GRANULARITY ? alignment : GRANULARITY);
    if (!outcome) *start = answer[0];
    return checked(outcome);
}
API status cuMemAddressFree(address start, size_t bytes) { return checked(ASK(UNRESERVE, NULL, start, bytes)); }

API status cuMemMap(address start, size_t bytes, size_t offset, struct memory *memory, uint64_t flags) {
    static int said;
    if (!memory || flags || offset + bytes > memory->bytes || start % GRANULARITY || bytes % GRANULARITY) return INVALID_VALUE;
    if (offset || bytes != memory->bytes) return missing("cuMemMap for a part of what cuMemCreate made", &said);
    if (memory->mapped) return missing("cuMemMap for memory that is mapped already", &said);
    struct mapping *mapping = calloc(1, sizeof *mapping);
    pthread_mutex_lock(&lock);
    *mapping = (struct mapping){start, bytes, memory, 0, mappings};
    memory->mapped = mappings = mapping;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

/* Memory that nothing may access lies nowhere; what it holds is kept. */
static status appear(struct mapping *mapping) {
    struct memory *memory = mapping->memory;
    address start = mapping->start;
    word bytes = mapping->bytes;
    status outcome = allocate_at(start, bytes);
    if (!outcome && memory->kept) outcome = transfer(start, bytes, 0, AS_WORD(memory->kept), bytes, 0, bytes, 1, 1, HOST_TO_DEVICE);
    free(memory->kept);
    memory->kept = NULL;
    return outcome;
}
static status disappear(struct mapping *mapping, int keep) {
    if (keep) {
        mapping->memory->kept = malloc(mapping->bytes);
        memcpy(mapping->memory->kept, AS_POINTER(mapping->start), mapping->bytes);
    }
    return release(mapping->start, DEVICE_MEMORY);
}

API status cuMemSetAccess(address start, size_t bytes, const struct access *access, size_t count) {
    status outcome = NOT_MAPPED;
    if (!access || count != 1) return INVALID_VALUE;
    if (access->where.type != DEVICE_PLACE || access->where.id) return INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    for (struct mapping *each = mappings; each; each = each->next) {
        if (each->start < start || each->start >= start + bytes) continue;
        outcome = SUCCESS;
        if (access->flags && !each->flags) outcome = appear(each);
        else if (!access->flags && each->flags) outcome = disappear(each, 1);
        if (outcome) break;
        each->flags = access->flags;
    }
    pthread_mutex_unlock(&lock);
    return outcome == NOT_MAPPED ? INVALID_VALUE : checked(outcome);
}

API status cuMemGetAccess(uint64_t *flags, const struct place *where, address at) {
    if (!flags || !where || where->id) return INVALID_VALUE;
    for (struct mapping *each = mappings; each; each = each->next)
        if (each->start <= at && at < each->start + each->bytes) return *flags = each->flags, SUCCESS;
    return INVALID_VALUE;
}

API status cuMemUnmap(address start, size_t bytes) {
    status outcome = INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (struct mapping **each = &mappings; *each;) {
        struct mapping *gone = *each;
        if (gone->start < start || gone->start >= start + bytes) {
            each = &gone->next;
            continue;
        }
        outcome = gone->flags ? disappear(gone, gone->memory->users > 0) : SUCCESS;
        *each = gone->next;
        gone->memory->mapped = NULL;
        gone->memory->users++;
        let_go(gone->memory);
        free(gone);
    }
    pthread_mutex_unlock(&lock);
    return checked(outcome);
}

API status cuMemRetainAllocationHandle(struct memory **memory, void *at) {
    for (struct mapping *each = mappings; each; each = each->next)
        if (each->start <= AS_WORD(at) && AS_WORD(at) < each->start + each->bytes) {
            each->memory->users++;
            *memory = each->memory;
            return SUCCESS;
        }
    return INVALID_VALUE;
}
API status cuMemGetAllocationPropertiesFromHandle(struct properties *how, const struct memory *memory) {
    return memory ? *how = memory->properties, SUCCESS : INVALID_VALUE;
}

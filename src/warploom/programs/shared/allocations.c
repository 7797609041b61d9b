/* What the program has allocated, kept here too: programs ask for every pointer what it is. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "warploom.h"

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *known; /* by address */
static size_t count, room;
static word numbers;

/* How many begin at an address or before. */
static size_t up_to(word address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (known[middle].start <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void remember(word start, word bytes, int kind) {
    pthread_mutex_lock(&list);
    if (count == room) known = realloc(known, (room = 2 * room + 64) * sizeof *known);
    size_t place = up_to(start);
    memmove(known + place + 1, known + place, (count++ - place) * sizeof *known);
    known[place] = (struct allocation){start, bytes, ++numbers, kind};
    pthread_mutex_unlock(&list);
}

static void forget(word start) {
    pthread_mutex_lock(&list);
    size_t place = up_to(start);
    if (place && known[place - 1].start == start) memmove(known + place - 1, known + place, (count-- - place) * sizeof *known);
    pthread_mutex_unlock(&list);
}

status allocate(word bytes, int kind, word *address) {
    word answer[ANSWER_WORDS];
    status outcome = ASK(ALLOCATE, answer, bytes, kind);
    if (outcome) return outcome;
    remember(answer[0], bytes, kind);
    *address = answer[0];
    return SUCCESS;
}

status allocate_at(word address, word bytes) {
    status outcome = ASK(MAP, NULL, address, bytes);
    if (!outcome) remember(address, bytes, DEVICE_MEMORY);
    return outcome;
}

status release(word address, int kind) {
    status outcome = ASK(FREE, NULL, address, kind);
    if (!outcome) forget(address);
    return outcome;
}

/* Variables of modules are the simulator's own allocations: it is asked for what is not known here. */
status allocation_at(word address, struct allocation *found) {
    word answer[ANSWER_WORDS];
    pthread_mutex_lock(&list);
    size_t place = up_to(address);
    int inside = place && address < known[place - 1].start + known[place - 1].bytes;
    if (inside) *found = known[place - 1];
    pthread_mutex_unlock(&list);
    if (inside) return SUCCESS;
    status outcome = is_device_address(address) ? ASK(POINTER, answer, address) : INVALID_VALUE;
    if (!outcome) *found = (struct allocation){answer[1], answer[2], 0, (int)answer[0]};
    return outcome;
}

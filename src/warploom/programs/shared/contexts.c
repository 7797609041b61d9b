/* Contexts: which one is current in each thread. There is one device with one memory, so that a context is but a name for it. */
#include "warploom.h"

enum { INVALID_CONTEXT = 201, DEEPEST = 64 };

static struct context primary = {.primary = 1};
static _Thread_local struct context *stack[DEEPEST];
static _Thread_local unsigned depth;

static int used; /* whether any thread has had a context, which is after CUDA's initialisation */

int has_been_used(void) { return __atomic_load_n(&used, __ATOMIC_ACQUIRE); }
struct context *primary_context(void) { return &primary; }
struct context *current_context(void) { return depth ? stack[depth - 1] : NULL; }

/* In place of the thread's current one; without one, the thread has none any more. */
void set_context(struct context *context) {
    if (depth) depth--;
    if (context) stack[depth++] = context;
    if (context) __atomic_store_n(&used, 1, __ATOMIC_RELEASE);
}

status push_context(struct context *context) {
    if (!context || depth == DEEPEST) return INVALID_CONTEXT;
    stack[depth++] = context;
    return SUCCESS;
}

status pop_context(struct context **context) {
    if (!depth) return INVALID_CONTEXT;
    if (context) *context = stack[depth - 1];
    depth--;
    return SUCCESS;
}

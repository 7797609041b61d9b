/* Streams and events. All work is done when it is asked for, so that streams are always at their end. */
#include <pthread.h>
#include <stdlib.h>

#include "graphs.h"

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static struct stream *streams;

struct stream *make_stream(unsigned flags, int priority) {
    static word made = 2; /* those before are CUDA's default streams */
    struct stream *stream = calloc(1, sizeof *stream);
    *stream = (struct stream){flags, priority, __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED)};
    pthread_mutex_lock(&list);
    stream->next = streams;
    streams = stream;
    pthread_mutex_unlock(&list);
    return stream;
}

void drop_stream(struct stream *stream) {
    pthread_mutex_lock(&list);
    for (struct stream **each = &streams; *each; each = &(*each)->next)
        if (*each == stream) {
            *each = stream->next;
            break;
        }
    pthread_mutex_unlock(&list);
    free(stream);
}

void forget_capture(struct graph *graph) {
    graph->capturing = 0;
    pthread_mutex_lock(&list);
    for (struct stream *each = streams; each; each = each->next)
        if (each->captured == graph) each->captured = NULL;
    pthread_mutex_unlock(&list);
}

/* Within a capture, an event only says what comes after what. */
status record_event_in(struct stream *stream, struct event *event) {
    if (!event) return INVALID_HANDLE;
    event->captured = captured(stream);
    return event->captured ? SUCCESS : record_event(event);
}

status record_event(struct event *event) {
    word answer[ANSWER_WORDS];
    if (!event) return INVALID_HANDLE;
    status outcome = ASK(EVENT, answer, 0);
    if (outcome) return outcome;
    event->nanoseconds = answer[0];
    event->recorded = 1;
    return SUCCESS;
}

status elapsed(float *milliseconds, const struct event *start, const struct event *end) {
    if (!start || !end || !start->recorded || !end->recorded) return INVALID_HANDLE;
    *milliseconds = (float)((double)(int64_t)(end->nanoseconds - start->nanoseconds) * 1e-6);
    return SUCCESS;
}

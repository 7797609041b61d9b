/* What the parts of the library share: CUDA's types as far as they are needed, and the way to the simulator. */
#ifndef WARPLOOM_H
#define WARPLOOM_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t word;
typedef int status; /* cudaError_t, CUresult */
typedef struct { unsigned x, y, z; } dim3;
typedef struct { size_t width, height, depth; } extent;
typedef struct { size_t x, y, z; } position;
typedef struct { void *pointer; size_t pitch, width, height; } pitched;
typedef struct { int bits[4]; int kind; } channels;

enum {
    SUCCESS = 0, INVALID_VALUE = 1, MEMORY_ALLOCATION = 2, INITIALIZATION = 3, INVALID_SYMBOL = 13, INVALID_FUNCTION = 98,
    NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_HANDLE = 400, NOT_SUPPORTED = 801, MISSING_CONFIGURATION = 52,
    INVALID_PITCH = 12
};
enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT_KIND };
enum { DEVICE_MEMORY, PINNED_MEMORY, MANAGED_MEMORY, ARRAY_MEMORY };
enum {
#define OPERATION(name, words, data) name,
#include "operations.h"
#undef OPERATION
};

#define AS_WORD(pointer) ((word)(uintptr_t)(pointer))
#define AS_POINTER(value) ((void *)(uintptr_t)(value))

#define QUESTION_WORDS 12
#define ANSWER_WORDS 8

/* A fat binary, a cubin or PTX in the program: sent when it is needed, for libraries bring hundreds of which few are. */
struct image { const void *data; word number; status outcome; int sent; };

struct kernel {
    const void *host; /* the stub in the program that stands for it */
    char *name;
    struct image *image;
    void *home;       /* the module's handle in the driver's interface */
    word number; /* Warploom's, once `known` */
    word bytes;  /* of all parameters */
    unsigned parameters, *offsets, *sizes;
    int known, ran; /* whether a launch of it has gone well */
    int dynamic;    /* bytes of dynamic shared memory that it was allowed */
    struct kernel *next;
};

struct launch_attribute { int id; char pad[4]; union { char room[64]; int number; unsigned shape[3]; } value; };
struct launch_configuration { dim3 grid, block; size_t shared; void *stream; struct launch_attribute *attributes; unsigned count; };
enum { MOST_PARAMETER_BYTES = 32768 };

/* An array for textures: its texels lie in device memory without gaps. */
struct array {
    word address;
    extent size;
    channels format;
    size_t texel;
    unsigned flags;
};

/* How a kernel is launched. */
struct shape { dim3 grid, block, cluster; size_t shared; void *stream; int cooperative; };

struct allocation { word start, bytes, number; int kind; };
struct context { int primary, users; unsigned flags; };
struct graph;
struct stream { unsigned flags; int priority; word number; struct graph *captured; struct stream *next; };
struct event { word nanoseconds; int recorded; struct graph *captured; };

/* What all libraries in the program share lies in one of its own, under names that no program has. */
#define SHARED(name) __asm__("warploom_" #name) __attribute__((visibility("default")))

/* One question and its answer. `words` counts those that are given; answers may be NULL. */
status ask(int operation, int words, const word *given, const void *data, word bytes, word answer[ANSWER_WORDS], void *into,
           word into_bytes) SHARED(ask);
/* The same without an answer: what goes wrong is the outcome of the next question. */
status tell(int operation, int words, const word *given, const void *data, word bytes) SHARED(tell);
#define ASK(operation, answer, ...) \
    ask(operation, sizeof((word[]){__VA_ARGS__}) / sizeof(word), (word[]){__VA_ARGS__}, NULL, 0, answer, NULL, 0)

void take_turn(void) SHARED(take_turn); /* for several questions that belong together */
void give_turn(void) SHARED(give_turn);

/* A fat binary, with or without a wrapper, a cubin or PTX in memory: after this its number is known, or what is wrong with it. */
char *file_contents(const char *path) SHARED(file_contents); /* with a zero behind them, to be freed; NULL where it cannot be read */
status send_image(struct image *image) SHARED(send_image);
struct kernel *add_kernel(struct image *image, const void *host, const char *name) SHARED(add_kernel);
word pack(const struct kernel *kernel, void **arguments, char *space) SHARED(pack); /* parameters of a launch, and their bytes */
struct kernel *find_kernel(const void *host) SHARED(find_kernel);
status know(struct kernel *kernel) SHARED(know);
status launch(struct kernel *kernel, const struct shape *shape, void **arguments) SHARED(launch);
status launch_packed(struct kernel *kernel, const struct shape *shape, const void *parameters, word bytes) SHARED(launch_packed);

void read_attributes(struct shape *shape, const struct launch_attribute *attributes, unsigned count) SHARED(read_attributes);

status allocate(word bytes, int kind, word *address) SHARED(allocate);
status allocate_at(word address, word bytes) SHARED(allocate_at);
status release(word address, int kind) SHARED(release);
status allocation_at(word address, struct allocation *found) SHARED(allocation_at);
int is_device_address(word address) SHARED(is_device_address);

status transfer(word to, word to_pitch, word to_slice, word from, word from_pitch, word from_slice, word width, word rows,
                word slices, int kind) SHARED(transfer);
status fill_bytes(word to, word pitch, word slice, int byte, word width, word rows, word slices) SHARED(fill_bytes);

status only_device(int device) SHARED(only_device); /* SUCCESS for the one that there is */
status attribute(int number, int *value) SHARED(attribute);
status get_limit(int number, word *value) SHARED(get_limit);
status set_limit(int number, word value) SHARED(set_limit);

struct context *primary_context(void) SHARED(primary_context);
struct context *current_context(void) SHARED(current_context);
int has_been_used(void) SHARED(has_been_used); /* by the runtime or the driver's interface, in any thread */
void set_context(struct context *context) SHARED(set_context);
status push_context(struct context *context) SHARED(push_context);
status pop_context(struct context **context) SHARED(pop_context);

/* Besides handles, 0, 1 and 2 are streams: CUDA's default ones. */
static inline int is_default_stream(const void *stream) { return AS_WORD(stream) <= 2; }
struct stream *make_stream(unsigned flags, int priority) SHARED(make_stream);
void drop_stream(struct stream *stream) SHARED(drop_stream);
void forget_capture(struct graph *graph); /* its streams are not captured any more */
status record_event(struct event *event) SHARED(record_event);
status record_event_in(struct stream *stream, struct event *event) SHARED(record_event_in);
status elapsed(float *milliseconds, const struct event *start, const struct event *end) SHARED(elapsed);

/* Work in a stream that is captured becomes part of its graph. */
struct graph *captured(const struct stream *stream) SHARED(captured);
void join_capture(struct stream *stream, const struct event *event) SHARED(join_capture);
struct graph *noted_in(void) SHARED(noted_in);
void note_in(struct graph *graph) SHARED(note_in);
status note_no_more(status outcome) SHARED(note_no_more);
#define IN_STREAM(stream, call) (note_in(captured((const struct stream *)(stream))), note_no_more(call))
status call_on_host(void (*function)(void *), void *data) SHARED(call_on_host); /* once all before it has been done */

status noted(status outcome); /* the runtime's: the same, kept as the thread's last error if it is one */
status symbol(const void *host, word *address, word *bytes);
status copy(word to, word to_pitch, word to_slice, word from, word from_pitch, word from_slice, word width, word rows,
            word slices, int kind);

#define API __attribute__((visibility("default")))

#endif

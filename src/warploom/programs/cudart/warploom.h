/* What the parts of the library share: CUDA's types as far as they are needed, and the way to the simulator. */
#ifndef WARPLOOM_H
#define WARPLOOM_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t word;
typedef int status; /* cudaError_t */
typedef struct { unsigned x, y, z; } dim3;
typedef struct { size_t width, height, depth; } extent;
typedef struct { size_t x, y, z; } position;
typedef struct { void *pointer; size_t pitch, width, height; } pitched;
typedef struct { int bits[4]; int kind; } channels;

enum {
    SUCCESS = 0, INVALID_VALUE = 1, MEMORY_ALLOCATION = 2, INITIALIZATION = 3, INVALID_SYMBOL = 13, INVALID_FUNCTION = 98,
    NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_HANDLE = 400, NOT_SUPPORTED = 801, MISSING_CONFIGURATION = 52
};
enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT_KIND };
enum { DEVICE_MEMORY, PINNED_MEMORY, MANAGED_MEMORY, ARRAY_MEMORY };
enum {
#define OPERATION(name, words, data) name,
#include "operations.h"
#undef OPERATION
};

#define QUESTION_WORDS 12
#define ANSWER_WORDS 8

struct kernel {
    const void *host; /* the stub in the program that stands for it */
    char *name;
    word module;
    word number; /* Warploom's, once `known` */
    word bytes;  /* of all parameters */
    unsigned parameters, *offsets, *sizes;
    int known, ran; /* whether a launch of it has gone well */
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

/* One question and its answer. `words` counts those that are given; answers may be NULL. */
status ask(int operation, int words, const word *given, const void *data, word bytes, word answer[ANSWER_WORDS], void *into,
           word into_bytes);
/* The same without an answer: what goes wrong is the outcome of the next question. */
status tell(int operation, int words, const word *given, const void *data, word bytes);
#define ASK(operation, answer, ...) \
    ask(operation, sizeof((word[]){__VA_ARGS__}) / sizeof(word), (word[]){__VA_ARGS__}, NULL, 0, answer, NULL, 0)

void take_turn(void); /* for several questions that belong together */
void give_turn(void);
status noted(status outcome); /* the same, kept as the thread's last error if it is one */
word send_module(const void *wrapper); /* its number */
void add_kernel(word module, const void *host, const char *name);
word pack(const struct kernel *kernel, void **arguments, char *space); /* the parameters of a launch, and their bytes */
struct kernel *find_kernel(const void *host);
status know(struct kernel *kernel);
status symbol(const void *host, word *address, word *bytes);
status copy(word to, word to_pitch, word to_slice, word from, word from_pitch, word from_slice, word width, word rows,
            word slices, int kind);
int runtime_version(void);

#define API __attribute__((visibility("default")))
#define AS_WORD(pointer) ((word)(uintptr_t)(pointer))
#define AS_POINTER(value) ((void *)(uintptr_t)(value))

#endif

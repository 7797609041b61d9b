/* Modules, kernels and variables, as the program loads and finds them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "driver/beside/beside.h"

struct module { void *real; struct image *image; struct module *next; };

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static struct module *modules;

status cuFuncGetName(const char **name, void *function);
status cuFuncGetModule(void **module, void *function);

static void add_module(void *real, struct image *image) {
    struct module *module = malloc(sizeof *module);
    pthread_mutex_lock(&list);
    *module = (struct module){real, image, modules};
    modules = module;
    pthread_mutex_unlock(&list);
}

struct image *image_of(void *module) {
    struct module *each;
    pthread_mutex_lock(&list);
    for (each = modules; each && each->real != module; each = each->next) {}
    pthread_mutex_unlock(&list);
    return each ? each->image : NULL;
}

/* The image is told at once, for it may be gone later. */
status noted_module(status outcome, void **module, const void *image, void *copy) {
    if (!outcome) {
        struct image *noted = calloc(1, sizeof *noted);
        noted->data = image;
        send_image(noted);
        add_module(*module, noted);
    }
    free(copy);
    return outcome;
}

API status cuModuleLoadData(void **module, const void *image) {
    return IN_TURN(noted_module(REAL(cuModuleLoadData)(module, image), module, image, NULL));
}
API status cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
    return IN_TURN(noted_module(REAL(cuModuleLoadDataEx)(module, image, count, options, values), module, image, NULL));
}
API status cuModuleLoadFatBinary(void **module, const void *image) {
    return IN_TURN(noted_module(REAL(cuModuleLoadFatBinary)(module, image), module, image, NULL));
}
API status cuModuleLoad(void **module, const char *path) {
    char *data = file_contents(path);
    return IN_TURN(noted_module(REAL(cuModuleLoad)(module, path), module, data, data));
}
API status cuLibraryLoadData(void **library, const void *image, int *options, void **values, unsigned count, int *more,
                             void **more_values, unsigned more_count) {
    return IN_TURN(noted_module(REAL(cuLibraryLoadData)(library, image, options, values, count, more, more_values, more_count), library,
                                image, NULL));
}
API status cuLibraryLoadFromFile(void **library, const char *path, int *options, void **values, unsigned count, int *more,
                                 void **more_values, unsigned more_count) {
    char *data = file_contents(path);
    return IN_TURN(noted_module(REAL(cuLibraryLoadFromFile)(library, path, options, values, count, more, more_values, more_count),
                                library, data, data));
}
API status cuLibraryGetModule(void **module, void *library) {
    status outcome = REAL(cuLibraryGetModule)(module, library);
    struct image *image = outcome ? NULL : image_of(library);
    if (image && !image_of(*module)) add_module(*module, image);
    return outcome;
}

static status noted_kernel(status outcome, void **function, struct image *image, const char *name) {
    if (outcome || !image) return outcome;
    struct kernel *known = find_kernel(*function);
    if (!known || known->image != image || strcmp(known->name, name)) add_kernel(image, *function, name);
    return outcome;
}
API status cuModuleGetFunction(void **function, void *module, const char *name) {
    return noted_kernel(REAL(cuModuleGetFunction)(function, module, name), function, image_of(module), name);
}
API status cuLibraryGetKernel(void **kernel, void *library, const char *name) {
    return noted_kernel(REAL(cuLibraryGetKernel)(kernel, library, name), kernel, image_of(library), name);
}
API status cuKernelGetFunction(void **function, void *kernel) {
    struct kernel *known = find_kernel(kernel);
    status outcome = REAL(cuKernelGetFunction)(function, kernel);
    return known ? noted_kernel(outcome, function, known->image, known->name) : outcome;
}

/* Of functions that were come by in other ways, the driver knows the name and the module. */
struct kernel *kernel_of(void *function) {
    struct kernel *known = find_kernel(function);
    const char *name;
    void *module;
    if (known || REAL(cuFuncGetName)(&name, function) || REAL(cuFuncGetModule)(&module, function)) return known;
    struct image *image = image_of(module);
    return image ? add_kernel(image, function, name) : NULL;
}

static status placed(status outcome, address *where, size_t *bytes, void *module, const char *name) {
    struct image *image = outcome ? NULL : image_of(module);
    if (!image || allocation_of(*where)) return outcome;
    word given[] = {image->number, *where, *bytes};
    ask(PLACED, 3, given, name, strlen(name), NULL, NULL, 0);
    return noted_allocation(outcome, *where, *bytes, VARIABLE_MEMORY);
}
API status cuModuleGetGlobal_v2(address *where, size_t *bytes, void *module, const char *name) {
    address own;
    size_t own_bytes;
    where = where ? where : &own;
    bytes = bytes ? bytes : &own_bytes;
    return IN_TURN(placed(REAL(cuModuleGetGlobal_v2)(where, bytes, module, name), where, bytes, module, name));
}
API status cuLibraryGetGlobal(address *where, size_t *bytes, void *library, const char *name) {
    address own;
    size_t own_bytes;
    where = where ? where : &own;
    bytes = bytes ? bytes : &own_bytes;
    return IN_TURN(placed(REAL(cuLibraryGetGlobal)(where, bytes, library, name), where, bytes, library, name));
}

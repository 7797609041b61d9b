/* Modules and libraries, which are one here, with their kernels and variables. A kernel's handle is a function's as well. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* The module is read now, so that what is wrong with it is said where the program expects it. */
static status load(struct module **result, const void *image) {
    enum { ROOM = 1 << 20 };
    word answer[ANSWER_WORDS];
    struct module *module = calloc(1, sizeof *module);
    char *text = malloc(ROOM);
    module->image.data = image;
    status outcome = image ? send_image(&module->image) : INVALID_VALUE;
    word given[] = {module->image.number};
    if (!outcome) outcome = ask(KERNELS_OF, 1, given, NULL, 0, answer, text, ROOM);
    if (outcome) {
        free(text);
        free(module);
        return checked(outcome);
    }
    module->count = answer[0];
    module->text = realloc(text, answer[1] + 1);
    module->names = malloc((module->count + 1) * sizeof *module->names);
    module->kernels = calloc(module->count + 1, sizeof *module->kernels);
    char *name = module->text;
    for (word i = 0; i < module->count; name += strlen(name) + 1) module->names[i++] = name;
    *result = module;
    return SUCCESS;
}

static status load_file(struct module **module, const char *path) {
    char *data = file_contents(path);
    if (!data) return FILE_NOT_FOUND;
    status outcome = load(module, data);
    free(data);
    return outcome;
}

/* Options concern the compilation of PTX; those that ask for messages get none: they go to standard error. */
static void empty_messages(unsigned count, const int *options, void **values) {
    enum { INFO_ROOM = 4, ERROR_ROOM = 6, INFO = 3, ERROR = 5 };
    for (unsigned i = 0; i < count; i++) {
        if ((options[i] == INFO || options[i] == ERROR) && values[i]) *(char *)values[i] = 0;
        if (options[i] == INFO_ROOM || options[i] == ERROR_ROOM) values[i] = NULL;
    }
}

API status cuModuleLoadDataEx(struct module **module, const void *image, unsigned count, int *options, void **values) {
    status outcome = in_context();
    if (outcome) return outcome;
    outcome = load(module, image);
    empty_messages(count, options, values);
    return outcome;
}
API status cuModuleLoadData(struct module **module, const void *image) { return cuModuleLoadDataEx(module, image, 0, NULL, NULL); }
API status cuModuleLoadFatBinary(struct module **module, const void *image) { return cuModuleLoadData(module, image); }
API status cuModuleLoad(struct module **module, const char *path) {
    status outcome = in_context();
    return outcome ? outcome : load_file(module, path);
}
API status cuModuleUnload(struct module *module) {
    if (!module) return INVALID_HANDLE;
    return ASK(UNLOAD, NULL, module->image.number);
}
API status cuModuleGetLoadingMode(int *mode) { return *mode = 2, SUCCESS; } /* lazy */

static status find(struct kernel **kernel, struct module *module, word index) {
    if (index == module->count) return NOT_FOUND;
    if (!module->kernels[index]) {
        struct kernel *made = add_kernel(&module->image, NULL, module->names[index]);
        made->home = module;
        status outcome = know(made);
        if (outcome) return checked(outcome);
        module->kernels[index] = made;
    }
    *kernel = module->kernels[index];
    return SUCCESS;
}

API status cuModuleGetFunction(struct kernel **kernel, struct module *module, const char *name) {
    word index = 0;
    if (!module || !name) return module ? INVALID_VALUE : INVALID_HANDLE;
    while (index < module->count && strcmp(module->names[index], name)) index++;
    return find(kernel, module, index);
}
API status cuModuleGetFunctionCount(unsigned *count, struct module *module) { return *count = module->count, SUCCESS; }
API status cuModuleEnumerateFunctions(struct kernel **kernels, unsigned room, struct module *module) {
    status outcome = SUCCESS;
    for (word i = 0; !outcome && i < module->count && i < room; i++) outcome = find(&kernels[i], module, i);
    return outcome;
}
API status cuModuleGetGlobal_v2(address *where, size_t *bytes, struct module *module, const char *name) {
    word answer[ANSWER_WORDS];
    if (!module || !name) return module ? INVALID_VALUE : INVALID_HANDLE;
    word given[] = {module->image.number, 0};
    status outcome = ask(VARIABLE, 2, given, name, strlen(name), answer, NULL, 0);
    if (outcome) return checked(outcome);
    if (where) *where = answer[0];
    if (bytes) *bytes = answer[1];
    return SUCCESS;
}

API status cuLibraryLoadData(struct module **library, const void *image, int *options, void **values, unsigned count, int *more,
                             void **more_values, unsigned more_count) {
    (void)more, (void)more_values, (void)more_count;
    status outcome = load(library, image);
    empty_messages(count, options, values);
    return outcome;
}
API status cuLibraryLoadFromFile(struct module **library, const char *path) { return load_file(library, path); }
API status cuLibraryUnload(struct module *library) { return cuModuleUnload(library); }
API status cuLibraryGetKernel(struct kernel **kernel, struct module *library, const char *name) {
    return cuModuleGetFunction(kernel, library, name);
}
API status cuLibraryGetKernelCount(unsigned *count, struct module *library) { return cuModuleGetFunctionCount(count, library); }
API status cuLibraryEnumerateKernels(struct kernel **kernels, unsigned room, struct module *library) {
    return cuModuleEnumerateFunctions(kernels, room, library);
}
API status cuLibraryGetModule(struct module **module, struct module *library) { return *module = library, SUCCESS; }
API status cuLibraryGetGlobal(address *where, size_t *bytes, struct module *library, const char *name) {
    return cuModuleGetGlobal_v2(where, bytes, library, name);
}
API status cuLibraryGetManaged(address *where, size_t *bytes, struct module *library, const char *name) {
    return cuModuleGetGlobal_v2(where, bytes, library, name);
}
API status cuKernelGetFunction(struct kernel **function, struct kernel *kernel) { return *function = kernel, SUCCESS; }
API status cuKernelGetLibrary(struct module **library, struct kernel *kernel) { return *library = kernel->home, SUCCESS; }
API status cuFuncGetModule(struct module **module, struct kernel *kernel) { return *module = kernel->home, SUCCESS; }
API status cuFuncGetName(const char **name, struct kernel *kernel) { return *name = kernel->name, SUCCESS; }
API status cuKernelGetName(const char **name, struct kernel *kernel) { return *name = kernel->name, SUCCESS; }
API status cuFuncIsLoaded(int *state, struct kernel *kernel) { return (void)kernel, *state = 1, SUCCESS; }
API status cuFuncLoad(struct kernel *kernel) { return kernel ? SUCCESS : INVALID_HANDLE; }
API status cuFuncGetParamInfo(struct kernel *kernel, size_t number, size_t *offset, size_t *bytes) {
    if (number >= kernel->parameters) return INVALID_VALUE;
    *offset = kernel->offsets[number];
    if (bytes) *bytes = kernel->sizes[number];
    return SUCCESS;
}
API status cuKernelGetParamInfo(struct kernel *kernel, size_t number, size_t *offset, size_t *bytes) {
    return cuFuncGetParamInfo(kernel, number, offset, bytes);
}

/* The linker takes one input, which is what compilers at run time give it. */
struct link { char *image; };
API status cuLinkCreate_v2(unsigned count, int *options, void **values, struct link **link) {
    empty_messages(count, options, values);
    *link = calloc(1, sizeof **link);
    return SUCCESS;
}
API status cuLinkAddData_v2(struct link *link, int kind, void *data, size_t bytes, const char *name, unsigned count, int *options,
                            void **values) {
    static int said;
    (void)kind, (void)name, (void)count, (void)options, (void)values;
    if (link->image) return missing("cuLinkAddData for a second input", &said);
    link->image = calloc(1, bytes + 1);
    memcpy(link->image, data, bytes);
    return SUCCESS;
}
API status cuLinkAddFile_v2(struct link *link, int kind, const char *path, unsigned count, int *options, void **values) {
    static int said;
    (void)kind, (void)count, (void)options, (void)values;
    if (link->image) return missing("cuLinkAddFile for a second input", &said);
    return (link->image = file_contents(path)) ? SUCCESS : FILE_NOT_FOUND;
}
API status cuLinkComplete(struct link *link, void **image, size_t *bytes) {
    if (!link->image) return INVALID_VALUE;
    *image = link->image;
    if (bytes) *bytes = strlen(link->image);
    return SUCCESS;
}
API status cuLinkDestroy(struct link *link) {
    free(link->image);
    free(link);
    return SUCCESS;
}

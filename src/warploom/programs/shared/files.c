/* Files that a program names, such as those of modules. */
#include <stdio.h>
#include <stdlib.h>

#include "warploom.h"

char *file_contents(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    rewind(file);
    char *data = calloc(1, bytes + 1); /* PTX has to end */
    size_t got = fread(data, 1, bytes, file);
    fclose(file);
    return got == (size_t)bytes ? data : (free(data), NULL);
}

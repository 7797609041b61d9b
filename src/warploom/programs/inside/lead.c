/* Executables with CUDA's runtime inside: where its functions stand in the symbol table, each entry becomes a jump to ours.

   Preloaded together with our runtimes of all versions, and initialised before everything else, the C library too, so that none of the
   runtime inside has run. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGNED = 16 }; /* functions begin at multiples of it, which leaves room for a jump even in the shortest */
static const unsigned char jump[6] = {0xFF, 0x25}; /* jmp to the address that follows */

struct file { const char *data; size_t bytes; };
struct table { const Elf64_Sym *symbols; size_t count; const char *names; };

static struct file map_file(const char *path) {
    struct stat about;
    struct file file = {0};
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0) return file;
    if (!fstat(handle, &about) && about.st_size > (off_t)sizeof(Elf64_Ehdr)) {
        void *data = mmap(NULL, about.st_size, PROT_READ, MAP_PRIVATE, handle, 0);
        if (data != MAP_FAILED) file = (struct file){data, about.st_size};
    }
    close(handle);
    return file;
}

static int inside(const struct file *file, uint64_t start, uint64_t bytes) {
    return start <= file->bytes && bytes <= file->bytes - start;
}

/* The symbol table, if it was not stripped. */
static struct table symbols_of(const struct file *file) {
    const Elf64_Ehdr *head = (const void *)file->data;
    struct table table = {0};
    if (!file->data || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64) return table;
    if (!inside(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr))) return table;
    const Elf64_Shdr *sections = (const void *)(file->data + head->e_shoff);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *each = &sections[i];
        if (each->sh_type != SHT_SYMTAB || each->sh_link >= head->e_shnum) continue;
        const Elf64_Shdr *names = &sections[each->sh_link];
        if (!inside(file, each->sh_offset, each->sh_size) || !inside(file, names->sh_offset, names->sh_size)) continue;
        table = (struct table){(const void *)(file->data + each->sh_offset), each->sh_size / sizeof(Elf64_Sym), file->data + names->sh_offset};
    }
    return table;
}

static const Elf64_Sym *find(const struct table *table, const char *name) {
    for (size_t i = 0; i < table->count; i++) {
        const Elf64_Sym *each = &table->symbols[i];
        if (ELF64_ST_TYPE(each->st_info) == STT_FUNC && each->st_value && !strcmp(table->names + each->st_name, name)) return each;
    }
    return NULL;
}

/* The version of the runtime, which shows in the functions that it has. */
static const char *version_of(const struct table *table) {
    if (!find(table, "__cudaGetKernel")) return "libcudart.so.11.0";
    return find(table, "cudaGetDeviceProperties_v2") ? "libcudart.so.12" : "libcudart.so.13";
}

static void lead(char *entry, void *to) {
    uintptr_t page = sysconf(_SC_PAGESIZE), start = (uintptr_t)entry & -page, end = ((uintptr_t)entry + ALIGNED + page - 1) & -page;
    if (mprotect((void *)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
    memcpy(entry, jump, sizeof jump);
    memcpy(entry + sizeof jump, &to, sizeof to);
    mprotect((void *)start, end - start, PROT_READ | PROT_EXEC);
}

static void lead_all(uintptr_t base, const struct table *table) {
    const char *version = find(table, "__cudaRegisterFatBinary") ? version_of(table) : NULL;
    for (size_t i = 0; version && i < table->count; i++) {
        const Elf64_Sym *each = &table->symbols[i];
        const char *name = table->names + each->st_name;
        if (ELF64_ST_TYPE(each->st_info) != STT_FUNC || !each->st_value || each->st_value % ALIGNED) continue;
        if (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6)) continue;
        void *ours = dlvsym(RTLD_DEFAULT, name, version);
        if (ours && ours != (char *)base + each->st_value) lead((char *)base + each->st_value, ours);
    }
}

static int look_at(struct dl_phdr_info *object, size_t size, void *nothing) {
    (void)size, (void)nothing;
    if (strstr(object->dlpi_name, "/libcudart.so")) return 0; /* the runtime itself */
    struct file file = map_file(*object->dlpi_name ? object->dlpi_name : "/proc/self/exe");
    struct table table = symbols_of(&file);
    lead_all(object->dlpi_addr, &table);
    if (file.data) munmap((void *)file.data, file.bytes);
    return 0;
}

__attribute__((constructor)) static void lead_the_loaded(void) { dl_iterate_phdr(look_at, NULL); }

/* SPDX-License-Identifier: MIT */
/* emulator_instrument.c - objects of watched kernels: flags, gaps between arrays, names of arrays. */
#include "emulator_instrument.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { GAP_BYTES = 256, OBJECT_BYTES_MOST = 1 << 28 };

/* -O1: higher levels join equal code of different lines, and with it the lines of findings. */
static const char *const common_flags[] = {
    "-O1",
    "-fsanitize=thread",
    "-fdata-sections",
    "-fno-optimize-sibling-calls",
    "-fno-delete-null-pointer-checks",
    "-U_FORTIFY_SOURCE",
    "-gdwarf-4", /* what older binutils read */
    "-DASSAY_WATCHED",
};
static const char *const gcc_flags[] = {
    "--param=tsan-distinguish-volatile=1", "--param=tsan-instrument-func-entry-exit=0",
    "-fno-tree-loop-im", /* it would read in advance what a loop perhaps never reads */
};
/* Clang's pass comes last, and knows no access of more than 16 bytes: no vectors before it. */
static const char *const clang_flags[] = {
    "-fno-vectorize", "-fno-slp-vectorize",
    "-mllvm",         "-tsan-instrument-read-before-write=1",
    "-mllvm",         "-tsan-distinguish-volatile=1",
    "-mllvm",         "-tsan-instrument-func-entry-exit=0",
    "-mllvm",         "-simplifycfg-sink-common=false",
    "-mllvm",         "-simplifycfg-hoist-common=false",
    "-mllvm",         "-enable-tail-merge=0",
};

void assay_watch_flags(const char *version, const char *flags[WATCH_FLAGS_MOST]) {
  const bool clang = strstr(version, "clang") != NULL;
  const char *const *own = clang ? clang_flags : gcc_flags;
  const size_t own_count =
      clang ? sizeof clang_flags / sizeof clang_flags[0] : sizeof gcc_flags / sizeof gcc_flags[0];
  size_t count = 0;
  for (size_t i = 0; i < sizeof common_flags / sizeof common_flags[0]; i++) flags[count++] = common_flags[i];
  for (size_t i = 0; i < own_count; i++) flags[count++] = own[i];
  flags[count] = NULL;
}

/* ---- ELF ----------------------------------------------------------------------------------------------- */

typedef struct elf_file {
  char *data;
  size_t bytes;
  ElfW(Shdr) * sections;
  size_t section_count;
  const char *names;
  size_t names_bytes;
} elf_file;

static bool section_fits(const elf_file *file, const ElfW(Shdr) * section) {
  return section->sh_offset <= file->bytes && section->sh_size <= file->bytes - section->sh_offset;
}

static bool open_elf(elf_file *file, const char *path) {
  *file = (elf_file){.data = NULL};
  file->data = assay_read_file(path, OBJECT_BYTES_MOST, &file->bytes);
  ElfW(Ehdr) head;
  if (file->data == NULL || file->bytes < sizeof head) return false;
  memcpy(&head, file->data, sizeof head);
  const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != class ||
      head.e_shentsize != sizeof(ElfW(Shdr)) || head.e_shoff % _Alignof(ElfW(Shdr)) != 0 ||
      head.e_shoff > file->bytes || (file->bytes - head.e_shoff) / sizeof(ElfW(Shdr)) < head.e_shnum ||
      head.e_shstrndx >= head.e_shnum) {
    return false;
  }
  file->sections = (ElfW(Shdr) *)(void *)(file->data + head.e_shoff);
  file->section_count = head.e_shnum;
  const ElfW(Shdr) *names = &file->sections[head.e_shstrndx];
  if (!section_fits(file, names) || names->sh_size == 0) return false;
  file->names = file->data + names->sh_offset;
  file->names_bytes = names->sh_size;
  return file->names[file->names_bytes - 1] == '\0';
}

/* A section without contents is as long as its header says. */
bool assay_watch_widen(const char *path) {
  elf_file file;
  bool done = open_elf(&file, path);
  for (size_t i = 0; done && i < file.section_count; i++) {
    ElfW(Shdr) *section = &file.sections[i];
    if (section->sh_type == SHT_NOBITS && (section->sh_flags & SHF_TLS) != 0 && section->sh_size > 0)
      section->sh_size += GAP_BYTES;
  }
  done = done && assay_write_file(path, file.data, file.bytes, 0600);
  free(file.data);
  return done;
}

/* GCC calls an array of a function NAME.3, Clang FUNCTION.NAME or FUNCTION.NAME.3. */
static void keep_name(watch_array *array, const char *symbol) {
  const char *start = symbol;
  const char *dot = strchr(symbol, '.');
  if (dot != NULL && (dot[1] < '0' || dot[1] > '9')) start = dot + 1;
  size_t length = strcspn(start, ".");
  if (length >= sizeof array->name) length = sizeof array->name - 1;
  memcpy(array->name, start, length);
  array->name[length] = '\0';
}

static int by_offset(const void *left, const void *right) {
  const watch_array *a = left;
  const watch_array *b = right;
  return (a->offset > b->offset) - (a->offset < b->offset);
}

static bool read_arrays(watch_object *object, const elf_file *file, const ElfW(Shdr) * table) {
  const ElfW(Shdr) *strings = &file->sections[table->sh_link];
  const size_t count = table->sh_size / sizeof(ElfW(Sym));
  if (!section_fits(file, strings) || strings->sh_size == 0) return true;
  const char *names = file->data + strings->sh_offset;
  if (names[strings->sh_size - 1] != '\0') return true;
  object->arrays = calloc(count + 1, sizeof *object->arrays);
  if (object->arrays == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    ElfW(Sym) symbol;
    memcpy(&symbol, file->data + table->sh_offset + i * sizeof symbol, sizeof symbol);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0 ||
        symbol.st_name >= strings->sh_size || strcmp(names + symbol.st_name, "assay_self") == 0) {
      continue;
    }
    watch_array *array = &object->arrays[object->array_count++];
    array->offset = symbol.st_value;
    array->bytes = symbol.st_size;
    keep_name(array, names + symbol.st_name);
  }
  qsort(object->arrays, (size_t)object->array_count, sizeof *object->arrays, by_offset);
  return true;
}

/* ---- a loaded object ----------------------------------------------------------------------------------- */

static int find_extent(struct dl_phdr_info *info, size_t size, void *context) {
  watch_object *object = context;
  (void)size;
  if (info->dlpi_addr != object->base) return 0;
  object->start = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD) continue;
    const uintptr_t start = info->dlpi_addr + part->p_vaddr;
    if (start < object->start) object->start = start;
    if (start + part->p_memsz > object->end) object->end = start + part->p_memsz;
  }
  return 1;
}

watch_object *assay_watch_object(void *handle, const char *path) {
  watch_object *object = calloc(1, sizeof *object);
  struct link_map *map = NULL;
  elf_file file = {.data = NULL};
  if (object == NULL) return NULL;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) {
    object->base = map->l_addr;
    (void)dl_iterate_phdr(find_extent, object);
  }
  bool fits = assay_path_format(object->path, "%s", path);
  if (fits && open_elf(&file, path)) {
    for (size_t i = 0; fits && i < file.section_count; i++) {
      const ElfW(Shdr) *section = &file.sections[i];
      if (section->sh_type == SHT_SYMTAB && section_fits(&file, section) &&
          section->sh_link < file.section_count && object->arrays == NULL) {
        fits = read_arrays(object, &file, section);
      }
    }
  }
  free(file.data);
  if (fits) return object;
  free(object->arrays);
  free(object);
  return NULL;
}

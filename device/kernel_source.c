/* SPDX-License-Identifier: MIT */
/* kernel_source.c - from the name of a kernel's file to its text and its headers. */
#include "kernel_source.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_BYTES_MOST = 4 << 20 };

static const char header_folder[] = "include/assay/";

static const assay_embedded *find_embedded(const char *path) {
  for (const assay_embedded *file = assay_embedded_files; file->path != NULL; file++) {
    if (strcmp(file->path, path) == 0) return file;
  }
  return NULL;
}

static assay_status read_text(const char *path, char **text, assay_message *why) {
  size_t bytes = 0;
  *text = assay_read_file(path, SOURCE_BYTES_MOST, &bytes);
  if (*text == NULL) {
    return assay_explain(why, errno == ENOMEM ? ASSAY_NO_MEMORY : ASSAY_UNAVAILABLE,
                         "the source of the kernel, %s, cannot be read: %s", path, strerror(errno));
  }
  if (strlen(*text) == bytes) return ASSAY_OK;
  free(*text);
  *text = NULL;
  return assay_explain(why, ASSAY_UNAVAILABLE, "%s holds a NUL byte: it is not a source", path);
}

/* The text of an embedded file, from ASSAY_SOURCE_DIR when that is set. */
static assay_status own_text(const assay_embedded *file, char **text, assay_message *why) {
  const char *asked = getenv("ASSAY_SOURCE_DIR");
  if (asked != NULL && asked[0] != '\0') {
    char path[ASSAY_PATH_SIZE];
    const char *folder = assay_source_folder();
    if (folder == NULL) {
      return assay_explain(
          why, ASSAY_UNAVAILABLE,
          "ASSAY_SOURCE_DIR is %s, which has no include/assay/workshop.h; correct it or unset it", asked);
    }
    if (!assay_path_format(path, "%s/%s", folder, file->path)) {
      return assay_explain(why, ASSAY_UNAVAILABLE, "the path of %s in ASSAY_SOURCE_DIR is too long",
                           file->path);
    }
    return read_text(path, text, why);
  }
  *text = strdup(file->text);
  return *text != NULL ? ASSAY_OK
                       : assay_explain(why, ASSAY_NO_MEMORY, "there is no memory for %s", file->path);
}

static assay_status load_headers(assay_kernel_source *source, assay_message *why) {
  const size_t folder_length = strlen(header_folder);
  for (const assay_embedded *file = assay_embedded_files; file->path != NULL; file++) {
    if (strncmp(file->path, header_folder, folder_length) != 0) continue;
    char *text = NULL;
    const assay_status status = own_text(file, &text, why);
    if (status != ASSAY_OK) return status;
    assert(source->header_count + 2 <= ASSAY_KERNEL_HEADERS_MOST);
    source->headers[source->header_count++] = (assay_nvrtc_header){file->path + strlen("include/"), text};
    source->headers[source->header_count++] = (assay_nvrtc_header){file->path + folder_length, text};
  }
  return ASSAY_OK;
}

assay_status assay_kernel_source_load(const char *file, assay_kernel_source *source, assay_message *why) {
  *source = (assay_kernel_source){0};
  const assay_embedded *embedded = find_embedded(file);
  assay_status status =
      embedded != NULL ? own_text(embedded, &source->text, why) : read_text(file, &source->text, why);
  if (status == ASSAY_OK) status = load_headers(source, why);
  if (status != ASSAY_OK) assay_kernel_source_free(source);
  return status;
}

void assay_kernel_source_free(assay_kernel_source *source) {
  free(source->text);
  for (int i = 0; i < source->header_count; i += 2) free((void *)(uintptr_t)source->headers[i].text);
  *source = (assay_kernel_source){0};
}

bool assay_kernel_source_headers(const assay_kernel_source *source, const char *folder) {
  char path[ASSAY_PATH_SIZE];
  if (!assay_path_format(path, "%s/assay", folder) || !assay_make_folders(path)) return false;
  for (int i = 0; i < source->header_count; i += 2) {
    const assay_nvrtc_header *header = &source->headers[i];
    if (!assay_path_format(path, "%s/%s", folder, header->name)) return false;
    if (!assay_write_file(path, header->text, strlen(header->text), 0644)) return false;
  }
  return true;
}

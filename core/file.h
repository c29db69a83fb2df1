/* SPDX-License-Identifier: MIT */
/* file.h - whole files: reading, atomic writing, folders, and where Assay's own files are. */
#ifndef ASSAY_FILE_H
#define ASSAY_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { ASSAY_PATH_SIZE = 4096 };

/* The whole file with a NUL behind it, to be freed; NULL with errno set, EFBIG above `limit` bytes. */
char *assay_read_file(const char *path, size_t limit, size_t *size);

/* Writes to a temporary name in the same folder, syncs, renames: the old file stays whole until then. False
 * with errno set, and then nothing of the new file is left behind. `mode` as for open. */
bool assay_write_file(const char *path, const void *data, size_t size, unsigned mode);

/* Like write_file, but fails with EINTR when `stop` becomes true before the new file is in place. */
bool assay_write_file_unless(const char *path, const void *data, size_t size, unsigned mode,
                             bool (*stop)(void));

/* Like write_file, but fails with EEXIST when the path exists (checked atomically). */
bool assay_create_file(const char *path, const void *data, size_t size, unsigned mode);

bool assay_file_exists(const char *path);

/* mkdir -p. */
bool assay_make_folders(const char *path);

/* A new private folder under $TMPDIR or /tmp; and removal of a folder with all that is in it. */
bool assay_make_temp_folder(char path[ASSAY_PATH_SIZE]);
bool assay_remove_tree(const char *path);

/* snprintf of a path; false (and an empty string) when it does not fit. */
bool assay_path_format(char path[ASSAY_PATH_SIZE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The folder that holds ops/, workshops/ and include/: $ASSAY_SOURCE_DIR, else the parent of the folder of
 * this program, else ../share/assay beside it. NULL when none of them has include/assay/workshop.h; a
 * variable that is set and wrong is not passed over. */
const char *assay_source_folder(void);

/* The path of the running program. */
const char *assay_program_path(void);

#endif

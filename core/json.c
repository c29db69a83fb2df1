/* SPDX-License-Identifier: MIT */
/* json.c - what all JSON of ours has in common, so that no file can be read two ways or written by half. */
#include "json.h"

#include "file.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 1 << 30 };

json_t *assay_json_number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

/* The length of the UTF-8 sequence at `text` (NUL-terminated), 0 when it is none: no overlong forms, no
 * halves of surrogate pairs, nothing above U+10FFFF. */
static size_t utf8_length(const unsigned char *text) {
  const unsigned lead = text[0];
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  unsigned low = 0x80;
  unsigned high = 0xbf;
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  if (text[1] < low || text[1] > high) return 0;
  for (size_t i = 2; i < length; i++) {
    if (text[i] < 0x80 || text[i] > 0xbf) return 0;
  }
  return length;
}

json_t *assay_json_text(const char *text) {
  static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
  char *clean = malloc(3 * strlen(text) + 1);
  if (clean == NULL) return NULL;
  size_t used = 0;
  while (*text != '\0') {
    const size_t length = utf8_length((const unsigned char *)text);
    memcpy(clean + used, length > 0 ? text : replacement, length > 0 ? length : 3);
    used += length > 0 ? length : 3;
    text += length > 0 ? length : 1;
  }
  json_t *value = json_stringn(clean, used);
  free(clean);
  return value;
}

json_t *assay_json_parse(const char *text, size_t size, const char *name, char *message,
                         size_t message_size) {
  json_error_t error;
  json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
  if (value != NULL) return value;
  /* jansson quotes the text: keep the message one line and harmless to a terminal. */
  for (char *c = error.text; *c != '\0'; c++) {
    if (iscntrl((unsigned char)*c)) *c = '?';
  }
  snprintf(message, message_size, "%s:%d:%d: %s", name, error.line, error.column, error.text);
  return NULL;
}

json_t *assay_json_load(const char *path, char *message, size_t message_size) {
  size_t size = 0;
  char *text = assay_read_file(path, LARGEST_FILE, &size);
  if (text == NULL) {
    snprintf(message, message_size, "%s: %s", path, strerror(errno));
    return NULL;
  }
  json_t *value = assay_json_parse(text, size, path, message, message_size);
  free(text);
  return value;
}

/* The text with its final newline, to be freed; NULL with errno set. */
static char *dump(const json_t *value, size_t *size) {
  const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY;
  const size_t length = json_dumpb(value, NULL, 0, flags);
  if (length == 0) { /* a value that contains itself, or none at all */
    errno = EINVAL;
    return NULL;
  }
  char *text = malloc(length + 1);
  if (text == NULL) return NULL;
  const size_t written = json_dumpb(value, text, length, flags);
  assert(written == length);
  text[written] = '\n';
  *size = written + 1;
  return text;
}

bool assay_json_save(const json_t *value, const char *path) {
  size_t size = 0;
  char *text = dump(value, &size);
  if (text == NULL) return false;
  const bool saved = assay_write_file(path, text, size, 0666);
  const int reason = errno;
  free(text);
  errno = reason;
  return saved;
}

bool assay_json_print(const json_t *value, FILE *stream) {
  size_t size = 0;
  char *text = dump(value, &size);
  if (text == NULL) return false;
  const bool printed = fwrite(text, 1, size, stream) == size && fflush(stream) == 0;
  const int reason = errno;
  free(text);
  errno = reason;
  return printed;
}

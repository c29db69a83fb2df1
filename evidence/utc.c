/* SPDX-License-Identifier: MIT */
/* utc.c - dates are written by strftime and read strictly: a date that is not one orders nothing. */
#include "utc.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <time.h>

void utc_now(char text[UTC_TEXT]) {
  utc_after_days(0, text);
}

void utc_after_days(int days, char text[UTC_TEXT]) {
  const time_t then = time(NULL) + (time_t)days * 24 * 60 * 60;
  struct tm parts;
  gmtime_r(&then, &parts);
  const size_t length = strftime(text, UTC_TEXT, "%Y-%m-%dT%H:%M:%SZ", &parts);
  assert(length == UTC_TEXT - 1);
}

static int number(const char *digits, int count) {
  int value = 0;
  for (int i = 0; i < count; i++) value = 10 * value + (digits[i] - '0');
  return value;
}

bool utc_valid(const char *text) {
  static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
  static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (strlen(text) != sizeof form - 1) return false;
  for (size_t i = 0; form[i] != '\0'; i++) {
    if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i]) return false;
  }
  const int year = number(text, 4);
  const int month = number(text + 5, 2);
  const int day = number(text + 8, 2);
  if (month < 1 || month > 12 || day < 1 || day > days[month - 1]) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (month == 2 && day == 29 && !leap) return false;
  return number(text + 11, 2) < 24 && number(text + 14, 2) < 60 && number(text + 17, 2) <= 60;
}

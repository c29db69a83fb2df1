#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints a C file that holds the given files as text: the kernels and headers that the program compiles when it runs.
# scripts/embed.sh FILE...
export LC_ALL=C
echo '/* Made by scripts/embed.sh. */'
echo '#include "kernel_source.h"'
number=0
for file in "$@"; do
  # Bytes, not a string: no compiler need take literals of any length, and nothing has to be escaped.
  echo "static const char file_$number[] = {"
  od -An -v -tx1 "$file" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g' || exit 1
  echo '0};'
  number=$((number + 1))
done
echo 'const assay_embedded assay_embedded_files[] = {'
number=0
for file in "$@"; do
  printf '{"%s", file_%d, sizeof file_%d - 1},\n' "$file" $number $number
  number=$((number + 1))
done
echo '{NULL, NULL, 0},'
echo '};'

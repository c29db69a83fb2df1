#!/bin/sh
# SPDX-License-Identifier: MIT
# Style rules that clang-format and clang-tidy do not know: prints what breaks them, exits 1 when anything does.
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
bad=0

sources=$(find core device ops workshops check bench evidence cli include tests fuzz -name '*.[ch]' -o -name '*.cu' 2>/dev/null | sort)
shells=$(find setup assay .ci/run tests scripts -type f \( -name '*.sh' -o -name setup -o -name assay -o -name run \) 2>/dev/null)
texts="$sources $shells Makefile $(find . -name '*.md' -not -path './build/*' -not -path './work/*')"

# rule WHAT PATTERN FILES...: no line of them may match.
rule() {
  what=$1 pattern=$2
  shift 2
  if grep -nE "$pattern" "$@" /dev/null; then
    echo "lint: $what"
    bad=1
  fi
}

tab=$(printf '\t')
# shellcheck disable=SC2086
{
  rule "trailing blanks" '[[:blank:]]+$' $texts
  rule "carriage return" "$(printf '\r')" $texts
  rule "tab in a source" "$tab" $sources $shells
  rule "character outside ASCII" '[^ -~]' $sources $shells
  rule "code that is switched off" '^#[[:blank:]]*if 0' $sources
  rule "mark of unfinished work" '(^|[^A-Za-z_-])(FIXME|XXX|HACK)([^A-Za-z_]|$)' $sources
}

# TODO belongs in starters, where the learner's work begins, and nowhere else.
for file in $sources; do
  case $file in
  workshops/*_starter.c | workshops/*_starter.cu) ;;
  *) rule "TODO outside a starter" '/[/*][^"]*[^A-Za-z_"]TODO:' "$file" ;;
  esac
done

for file in $texts; do
  if [ -s "$file" ] && [ "$(tail -c 1 "$file" | od -An -c | tr -d ' ')" != '\n' ]; then
    echo "$file: no newline at the end"
    bad=1
  fi
done

# Bodies of functions: clang-format puts the opening line's brace at its end and the closing one in column 1. A pipelined
# kernel holds its registers in arrays that no function call may take apart, and gets a few lines more.
for file in $sources; do
  case $file in *.cu) most=75 ;; *) most=70 ;; esac
  awk -v limit=$most '
    !inside && /^[A-Za-z_].*\{$/ && !/^(typedef|struct|enum|union|extern)[ {]/ && !/=[^=]*\{$/ { start = FNR; inside = 1 }
    !inside && /^[ \t].*\) \{$/ { start = FNR; inside = 1 }
    inside && /^\}/ {
      if (FNR - start + 1 > limit) { printf "%s:%d: function of %d lines, %d at most\n", FILENAME, start, FNR - start + 1, limit; bad = 1 }
      inside = 0
    }
    END { exit bad }' "$file" || bad=1
done

for file in $shells; do
  case $(head -n 1 "$file") in
  *bash) command -v bash >/dev/null 2>&1 && { bash -n "$file" || bad=1; } ;;
  *) for shell in dash sh; do command -v $shell >/dev/null 2>&1 && { $shell -n "$file" || bad=1; }; done ;;
  esac
done

# Layers, names and symbols are tests as well; here they are heard of before the tests run.
tests/test_tree.sh layers names_in_machinery unique_names exported_symbols >"${TMPDIR:-/tmp}/lint.$$" || {
  bad=1
  grep -v '^ok' "${TMPDIR:-/tmp}/lint.$$"
}
rm -f "${TMPDIR:-/tmp}/lint.$$"

# Some tests misspell on purpose. British and American spellings both pass here.
if command -v codespell >/dev/null 2>&1; then
  # shellcheck disable=SC2086
  codespell -L chek,chekc,lsit,nd $texts docs/man/*.scd debian/control packaging/* || bad=1
else
  echo "lint: spelling was not looked at: codespell is not here"
fi

if command -v cppcheck >/dev/null 2>&1; then
  cppcheck -q -j "$(nproc 2>/dev/null || echo 1)" --enable=warning,portability --std=c11 --error-exitcode=1 \
    --suppressions-list=tests/cppcheck.txt --suppress=unmatchedSuppression -D__x86_64__ -D_GNU_SOURCE -D__GNUC__=12 \
    -I. -Iinclude -Icore -Idevice core device ops workshops check bench evidence cli tests/*.c fuzz || bad=1
else
  echo "lint: cppcheck is not here"
fi

exit $bad

#!/bin/sh
# SPDX-License-Identifier: MIT
# The installed tree: what is in it, that it works where the source tree is not looked at, and that uninstall leaves
# nothing. It is staged as a packager does it, with libraries in a folder of their own, and then moved. Prints TAP.
cd "$(dirname "$0")/.." || exit 1
root=$PWD
BUILD=${BUILD:-$root/build}
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
CC=${CC:-cc}
export LC_ALL=C
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
unset ASSAY_SOURCE_DIR ASSAY_BUILD_DIR
SCDOC=${SCDOC:-scdoc}
paths="PREFIX=/opt/assay LIBDIR=/opt/assay/lib/multi"
stage=$scratch/stage moved=$scratch/moved
# The build as it is: with another name for its folder, or other flags, programs that other tests run would be made anew.
if grep -q -e ' -Werror ' "$BUILD/flags" 2>/dev/null; then paths="$paths WERROR=1"; fi
paths="$paths BUILD=${BUILD#"$root"/}"
prefix=$moved/opt/assay
assay=$prefix/bin/assay
libraries=$prefix/lib/multi

count=0 failures=0
# check NAME FUNCTION: what the function prints is what is wrong; nothing printed and status 0 is a pass.
check() {
  count=$((count + 1))
  if (cd "$scratch" && "$2") >"$scratch/out" 2>&1 && [ ! -s "$scratch/out" ]; then
    echo "ok $count - $1"
  elif grep -q '^skip: ' "$scratch/out" && [ "$(wc -l <"$scratch/out")" -eq 1 ]; then
    echo "ok $count - $1 # SKIP $(sed 's/^skip: //' "$scratch/out")"
  else
    failures=$((failures + 1))
    echo "not ok $count - $1"
    head -n 40 "$scratch/out" | sed 's/^/# /'
    [ -s "$scratch/out" ] || echo "# failed without a word"
  fi
}

# run CODE WORDS...: the installed program in the learner's folder, whose exit status must be CODE.
run() {
  wanted=$1
  shift
  (cd "$scratch/learner" && "$assay" "$@") >"$scratch/answer" 2>&1
  code=$?
  [ $code -eq "$wanted" ] && return
  echo "assay $*: exit status $code, not $wanted"
  tail -n 8 "$scratch/answer"
}

says() {
  grep -q -- "$1" "$scratch/answer" || {
    echo "the answer does not say '$1':"
    tail -n 8 "$scratch/answer"
  }
}

put_in_place() {
  # shellcheck disable=SC2086
  (cd "$root" && umask 077 && make -s install CC="$CC" SCDOC="$SCDOC" $paths DESTDIR="$stage") \
    >"$scratch/install" 2>&1 || cat "$scratch/install"
  mv "$stage" "$moved"
  mkdir "$scratch/learner"
  for file in bin/assay lib/multi/libassay.so.0 lib/multi/libassay.so lib/multi/libassay.a include/assay/assay.h \
    lib/multi/pkgconfig/assay.pc lib/multi/cmake/assay/assay-config.cmake share/bash-completion/completions/assay \
    share/zsh/site-functions/_assay share/fish/vendor_completions.d/assay.fish share/assay/include/assay/workshop.h; do
    [ -s "$prefix/$file" ] || echo "not installed: $file"
  done
  find "$moved" -type f ! -perm -044 | sed "s#$moved#not readable by all: #"
  find "$moved" -type d ! -perm -055 | sed "s#$moved#not open to all: #"
}

manual_pages() {
  if ! command -v "$SCDOC" >/dev/null 2>&1; then
    grep -q 'no manual pages' "$scratch/install" || echo "install does not say that pages are left out"
    echo "skip: no scdoc here"
    return
  fi
  for page in "$root"/docs/man/*.scd; do
    page=share/man/man1/$(basename "$page" .scd)
    [ -s "$prefix/$page" ] || echo "not installed: $page"
  done
}

finds_its_files() {
  run 0 env
  says "source folder *$prefix/share/assay"
  run 0 --version
  says '^assay [0-9]*\.[0-9]*\.[0-9]*$'
  grep -rn '\./assay' "$prefix/share/assay/workshops" --include='*.md' --include='*_starter.c*'
  run 0
  if grep -n '\./assay' "$scratch/answer"; then echo "that is how a source tree calls the program"; fi
}

learner() {
  run 0 start w1
  says 'wrote work/strided_softmax.c'
  says 'assay lesson strided_softmax'
  if grep '\./assay' "$scratch/answer"; then echo "that is how a source tree calls the program"; fi
  run 0 lesson w1
  run 0 hint w1
  run 2 check w1
  cp "$prefix"/share/assay/workshops/w1_*/w1_solution.c "$scratch/learner/work/strided_softmax.c"
  run 0 check w1 --tier S --backend cpu
  says '^[1-9][0-9]* passed, 0 failed'
  sed -i 's/^}$/}}/' "$scratch/learner/work/strided_softmax.c"
  run 1 check w1 --backend cpu
  says 'does not compile'
  run 0 check w1 --solution --backend simt --filter worked_example
}

own_arrays() {
  run 0 apply strided_softmax --in "$root/data/logits.npy" --out y.npy --check
  says 'are within the derived bound'
  [ -s "$scratch/learner/y.npy" ] || echo "y.npy was not written"
}

measures() {
  run 0 bench w1 --solution --quick --shape 16x64 -o r.json
  run 0 verify r.json
  says 'valid and current'
}

# Defects of a solution are built anywhere, those of the program only where its sources are.
proves() {
  run 0 prove w1 --named --filter '^sum_forgotten$'
  says '1 defects, 1 caught, 0 survived'
  tree_defect=$(sed -n '/^\[/{s/[][]//g;h;}; /^file: .*\//{g;p;q;}' "$prefix"/share/assay/workshops/w1_*/broken.txt)
  [ -n "$tree_defect" ] || echo "no defect of the program itself was found"
  run 3 prove w1 --named --filter "^$tree_defect\$"
  says 'unavailable *1 defects'
}

exported_symbols() {
  sed -n 's/^ASSAY_API [^(]*[ *]\(assay_[a-z0-9_]*\)(.*/\1@@LIBASSAY_0/p' "$root/include/assay/assay.h" | sort >"$scratch/declared"
  sed -n 's/^ \(assay_[a-z0-9_]*@\)\(LIBASSAY_[0-9]*\) .*/\1@\2/p' "$root/debian/libassay0.symbols" | sort | diff - "$scratch/declared" |
    sed -n 's/^>/debian\/libassay0.symbols lacks/p; s/^</debian\/libassay0.symbols has, and the header has not,/p'
  nm -D --defined-only "$libraries/libassay.so.0" | awk '$2 != "A" { print $3 }' | sort >"$scratch/exported"
  [ "$(wc -l <"$scratch/declared")" -gt 10 ] || echo "the header declares too little"
  [ "$(grep -c ASSAY_API "$root/include/assay/assay.h")" -eq "$(($(wc -l <"$scratch/declared") + 2))" ] ||
    echo "not every ASSAY_API in the header is a function on one line"
  diff "$scratch/declared" "$scratch/exported"
  readelf -d "$libraries/libassay.so.0" | grep -q 'SONAME.*\[libassay\.so\.0\]' || echo "the soname is not libassay.so.0"
}

write_example() {
  cat <<'END'
#include <assay/assay.h>
#include <math.h>
#include <stdio.h>
int main(void) {
  const float x[2] = {0.0f, 1.0f};
  float y[2] = {-1.0f, -1.0f};
  assay_queue *queue = NULL;
  if (assay_queue_open_cpu(1, &queue) != ASSAY_OK) return 1;
  if (assay_strided_softmax(ASSAY_FP32, x, 1, 2, 2, 1, y, 0, queue) != ASSAY_OK) return 2;
  assay_queue_close(queue);
  if (!(fabsf(y[1] - 0.7310586f) < 1e-5f) || !(fabsf(y[0] + y[1] - 1.0f) < 1e-5f)) return 3;
  return puts(assay_version()) < 0;
}
END
}

pkg_config_project() {
  if ! command -v pkg-config >/dev/null 2>&1; then
    echo "skip: no pkg-config here"
    return
  fi
  write_example >"$scratch/example.c"
  export PKG_CONFIG_LIBDIR="$libraries/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$moved"
  # shellcheck disable=SC2046
  $CC "$scratch/example.c" -o "$scratch/shared" $(pkg-config --cflags --libs assay) -lm &&
    LD_LIBRARY_PATH="$libraries" "$scratch/shared" >"$scratch/answer" || echo "the example with libassay.so: $?"
  # shellcheck disable=SC2046
  $CC "$scratch/example.c" -o "$scratch/static" $(pkg-config --cflags assay) "$libraries/libassay.a" \
    $(pkg-config --static --libs-only-other --libs-only-l assay | sed 's/-lassay//') &&
    "$scratch/static" >>"$scratch/answer" || echo "the example with libassay.a: $?"
  [ "$(sort -u "$scratch/answer")" = "$(pkg-config --modversion assay)" ] || echo "versions differ: $(cat "$scratch/answer")"
}

cmake_project() {
  if ! command -v cmake >/dev/null 2>&1; then
    echo "skip: no cmake here"
    return
  fi
  mkdir "$scratch/project"
  write_example >"$scratch/project/example.c"
  cat >"$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.13)
project(example C)
find_package(assay 0.1 REQUIRED)
add_executable(shared example.c)
target_link_libraries(shared assay::assay m)
add_executable(static example.c)
target_link_libraries(static assay::static)
find_package(assay 99 QUIET)
if(assay_FOUND)
  message(FATAL_ERROR "version 99 was found")
endif()
END
  cmake -S "$scratch/project" -B "$scratch/project/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -Dassay_DIR="$libraries/cmake/assay" -DCMAKE_C_COMPILER="${CC%% *}" >"$scratch/cmake" 2>&1 &&
    cmake --build "$scratch/project/build" >>"$scratch/cmake" 2>&1 || {
    tail -n 20 "$scratch/cmake"
    return
  }
  for program in shared static; do
    "$scratch/project/build/$program" >"$scratch/answer" || echo "the $program example: $?"
    says '^[0-9]*\.[0-9]*\.[0-9]*$'
  done
}

uninstalled() {
  mv "$moved" "$stage"
  # What lay there before must stay.
  mkdir -p "$stage/opt/assay/share/man/man1" && : >"$stage/opt/assay/share/man/man1/other.1"
  # shellcheck disable=SC2086
  (cd "$root" && make -s uninstall $paths DESTDIR="$stage") >/dev/null 2>&1
  find "$stage" \( -type f -o -type l \) ! -name other.1 | sed 's/^/left behind: /'
  find "$stage/opt/assay" -mindepth 1 -type d -name assay | sed 's/^/left behind: /'
  [ -e "$stage/opt/assay/share/man/man1/other.1" ] || echo "a file of somebody else is gone"
}

check "make install puts files in place, for all to read" put_in_place
check "the manual pages are installed" manual_pages
check "the program finds its own files, and is called assay" finds_its_files
check "start, lesson, hint and check work in an empty folder" learner
check "apply works" own_arrays
check "bench works, and its report is valid" measures
check "prove works, and says what it needs the source tree for" proves
check "the library exports what its header declares, under its version" exported_symbols
check "a project finds the library with pkg-config" pkg_config_project
check "a project finds the library with CMake" cmake_project
check "uninstall leaves nothing, and nothing of others is lost" uninstalled
echo "1..$count"
[ "$failures" -eq 0 ]

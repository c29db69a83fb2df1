#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules about the tree as a whole: layers, names, symbols, headers, links: tests/test_tree.sh [FUNCTION...] checks some of
# them. Prints TAP.
only=" $* "
cd "$(dirname "$0")/.." || exit 1
root=$PWD
BUILD=${BUILD:-$root/build}
CC=${CC:-cc}
export LC_ALL=C
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

machinery="core device check bench evidence cli"
rooms="$machinery ops workshops include tests fuzz"
sources=$(find $rooms -name '*.[ch]' -o -name '*.cu' 2>/dev/null | sort)
documents=$(find . -name '*.md' -not -path './build/*' -not -path './work/*' -not -path './.git/*' | sort)

count=0 failures=0
# check NAME FUNCTION: what the function prints is what is wrong; nothing printed and status 0 is a pass.
check() {
  case $only in '  ' | *" $2 "*) ;; *) return ;; esac
  count=$((count + 1))
  if "$2" >"$scratch/out" 2>&1 && [ ! -s "$scratch/out" ]; then
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

# ---- what may include what -------------------------------------------------------------------------------------

# Workshops stand between ops and check: they may include ops. What learners compile, starters and solutions, includes
# the public headers only. A header is found by its unique base name.
layers() {
  for file in $sources; do
    grep -nE '^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*"' "$file" /dev/null
  done | awk -v files="$sources" '
    function room(path) { return substr(path, 1, index(path, "/") - 1) }
    BEGIN {
      split("core 0 device 1 ops 2 workshops 3 check 4 bench 5 evidence 6 cli 7", part, " ")
      for (i = 1; i in part; i += 2) rank[part[i]] = part[i + 1]
      n = split(files, list, "\n")
      for (i = 1; i <= n; i++) { base = list[i]; sub(/.*\//, "", base); where[base] = room(list[i]) }
    }
    {
      split($0, at, ":"); file = at[1]
      match($0, /"[^"]*"/); target = substr($0, RSTART + 1, RLENGTH - 2)
      base = target; sub(/.*\//, "", base)
      from = room(file)
      if (!(base in where)) { print file ": includes \"" target "\", which is nowhere"; next }
      to = where[base]
      if (from == "include" || file ~ /^workshops\/[^\/]*\/[^\/]*_(starter|solution)\.cu?$/) {
        if (to != "include") print file ": may include only assay/*.h, and includes \"" target "\""
      } else if (from in rank && to in rank && rank[from] < rank[to])
        print file ": " from " must not include \"" target "\" of " to
      else if (from in rank && (to == "tests" || to == "fuzz"))
        print file ": includes \"" target "\" of " to
    }'
}

# Names of operators and exercises from the folders, and the stems of the operators' files. A name that is one plain
# word ("offsets") counts only where it stands in quotation marks.
names_in_machinery() {
  for folder in ops/*/ workshops/*/; do
    [ -d "$folder" ] && basename "$folder" | sed 's/^[a-z][0-9]*_//'
  done >"$scratch/names"
  for file in ops/*/*_op.c; do
    [ -e "$file" ] && basename "$file" _op.c
  done >"$scratch/stems"
  [ -s "$scratch/names" ] && [ -s "$scratch/stems" ] || echo "no names found under ops/ and workshops/"
  {
    grep _ "$scratch/names"
    cat "$scratch/stems"
  } | sort -u | while read -r name; do
    grep -rniE "(^|[^a-z])$name([^a-z]|\$)" $(ls -d $machinery 2>/dev/null)
  done | sort -u
  grep -v _ "$scratch/names" | while read -r name; do
    grep -rnF "\"$name\"" $(ls -d $machinery 2>/dev/null) || true # none is what should be found
  done
}

unique_names() {
  for file in $sources; do
    basename "$file"
  done | sort | uniq -d | while read -r name; do
    echo "$name stands more than once:" $(find $rooms -name "$name" 2>/dev/null)
  done
}

# ---- symbols ---------------------------------------------------------------------------------------------------

# Names that no C program can spell are the compiler's own: LLVM's OpenMP shares its locks by one that begins with a dot.
exported_symbols() {
  nm -D --defined-only "$BUILD/libassay.so" | awk '$2 != "A" && $3 !~ /^(assay_|\.)/ { print "libassay.so exports " $3 }'
  nm -g --defined-only "$BUILD/libassay.a" | awk 'NF == 3 && $3 !~ /^(assay_|\.)/ { print "libassay.a defines " $3 }'
  for name in assay_version assay_call assay_last_error; do
    nm -D --defined-only "$BUILD/libassay.so" | grep -q " T $name@@LIBASSAY_[0-9]*\$" || echo "libassay.so does not export $name"
  done
}

needed() {
  readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# What judges exercises is for the program alone.
exercises_in_library() {
  { ar t "$BUILD/libassay.a" && nm -D --defined-only "$BUILD/libassay.so"; } | grep -E '^b[0-9]_|beginner|walkthrough|workshops\.o|exercise'
  nm "$BUILD/assay" | grep -q beginner || echo "the program has no exercises: is it the program?"
}

linked_libraries() {
  needed "$BUILD/libassay.so" | grep -E 'jansson|sodium|cuda|nvrtc' | sed 's/^/libassay.so needs /'
  needed "$BUILD/assay" | grep -E 'cuda|nvrtc|cublas' | sed 's/^/the program needs /'
  needed "$BUILD/assay" | grep -q jansson || echo "the program does not need jansson: is it the program?"
  readelf -d "$BUILD/libassay.so" | grep -q 'SONAME.*libassay\.so\.[0-9]' || echo "libassay.so has no versioned name"
}

# ---- headers ---------------------------------------------------------------------------------------------------

strict="-Wall -Wextra -Wpedantic -Werror -fsyntax-only"

public_header_c() {
  echo '#include "assay/assay.h"' | $CC -std=c11 $strict -Iinclude -x c -
  echo '#include "assay/workshop.h"' | $CC -std=c11 $strict -Iinclude -x c -
}

public_header_cxx() {
  for compiler in g++ clang++; do
    command -v $compiler >/dev/null 2>&1 || continue
    echo '#include "assay/assay.h"' | $compiler -std=c++17 $strict -Iinclude -x c++ -
    return
  done
  echo "skip: no C++ compiler here"
}

# Every header includes what it needs.
each_header_alone() {
  for header in $(echo "$sources" | grep '\.h$'); do
    case $header in
    include/assay/kernel*.h) continue ;; # device code, and the parts of kernel.h
    *_simd.h) continue ;;               # written over words that its includers define
    esac
    # The end of a name says which instructions a file may use, here as in the Makefile.
    isa=
    case $header in
    *_avx2.h) isa="-mavx2 -mfma -mf16c" ;;
    *_avx512.h) isa="-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c" ;;
    *_avx512bf16.h) isa="-mavx512bf16 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c" ;;
    esac
    if [ -n "$isa" ]; then case $($CC -dumpmachine) in x86_64-* | amd64-*) ;; *) continue ;; esac; fi
    # shellcheck disable=SC2086
    echo "#include \"$header\"" | $CC -std=c11 -D_GNU_SOURCE $strict $isa -I. -Iinclude -Icore -Idevice -x c -
  done
}

# ---- texts -----------------------------------------------------------------------------------------------------

# The anchor that a heading gets on a code host: lower case, punctuation dropped, blanks to hyphens.
anchors() {
  awk '/^```/ { code = !code } !code && /^#+ / { sub(/^#+ +/, ""); print }' "$1" |
    tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

links() {
  for document in $documents; do
    awk '/^```/ { code = !code } !code' "$document" | sed 's/`[^`]*`//g' | grep -oE '\]\([^)]*\)' |
      sed 's/^](//; s/)$//; s/ ".*//' | while read -r target; do
      case $target in
      *://* | mailto:*) continue ;;
      esac
      path=${target%%#*} anchor=
      case $target in *'#'*) anchor=${target#*#} ;; esac
      if [ -z "$path" ]; then path=$document; else path=$(dirname "$document")/$path; fi
      if [ ! -e "$path" ]; then
        echo "$document: no such file: $target"
      elif [ -n "$anchor" ]; then
        anchors "$path" | grep -qxF -- "$anchor" || echo "$document: no such heading: $target"
      fi
    done
  done
}

licence_lines() {
  scripts=$(find setup assay .ci Makefile tests scripts python \( -name '*.sh' -o -name '*.py' -o -name setup \
    -o -name assay -o -name run -o -name Makefile \) -type f 2>/dev/null)
  for file in $sources; do
    [ "$(head -n 1 "$file")" = '/* SPDX-License-Identifier: MIT */' ] || echo "$file: line 1 is not the SPDX line"
  done
  for file in $scripts; do
    head -n 2 "$file" | grep -qx '# SPDX-License-Identifier: MIT' || echo "$file: no SPDX line at its head"
  done
}

file_lengths() {
  for file in $sources $scripts; do
    lines=$(wc -l <"$file")
    [ "$lines" -le 400 ] || echo "$file: $lines lines, 400 at most"
  done
}

# ---- running ---------------------------------------------------------------------------------------------------

# With the tracer every open of every process counts; without it, what the dynamic loader was asked for.
opens_no_cuda() {
  for arguments in "list" "check strided_softmax --solution --tier S --backend cpu"; do
    rm -f "$scratch"/trace*
    if strace -f -o "$scratch/probe" true 2>/dev/null; then
      strace -f -e trace=open,openat,execve -o "$scratch/trace" "$BUILD/assay" $arguments >"$scratch/run" 2>&1
    else
      LD_DEBUG=files LD_DEBUG_OUTPUT="$scratch/trace" "$BUILD/assay" $arguments >"$scratch/run" 2>&1
    fi
    code=$?
    [ $code -eq 0 ] || { echo "assay $arguments: exit status $code"; tail -n 3 "$scratch/run"; }
    cat "$scratch"/trace* | grep -q 'lib' || echo "assay $arguments: nothing was traced"
    cat "$scratch"/trace* | grep -E 'libcuda|libnvrtc|libcublas' | sed "s/^/assay $arguments: /"
  done
}

launcher() {
  if [ -x build/assay ]; then
    ln -s "$root/assay" "$scratch/link"
    (cd / && env -u ASSAY_SOURCE_DIR "$scratch/link" lesson w1) >"$scratch/answer" 2>&1 ||
      echo "through a link: $(cat "$scratch/answer")"
  fi
  mkdir -p "$scratch/empty"
  cp assay "$scratch/empty/assay"
  "$scratch/empty/assay" --version >"$scratch/stdout" 2>"$scratch/stderr"
  [ $? -eq 3 ] || echo "not built: the exit status is not 3"
  [ ! -s "$scratch/stdout" ] && [ "$(wc -l <"$scratch/stderr")" -eq 1 ] && grep -q "run 'make'" "$scratch/stderr" ||
    echo "not built: not one line on stderr that says what to run"
}

# What it holds, where to begin, what it must not do: of every folder at the top, on few lines. Those of the data and of
# the Python package are read elsewhere too.
folder_pages() {
  for folder in */; do
    case $folder in build/ | work/) continue ;; esac
    if [ ! -s "${folder}README.md" ]; then
      echo "${folder}README.md is missing"
    elif [ "$folder" != data/ ] && [ "$folder" != python/ ] && [ "$(wc -l <"${folder}README.md")" -gt 16 ]; then
      echo "${folder}README.md is longer than a look"
    elif [ "$folder" != data/ ]; then
      grep -qiE 'must not|may not' "${folder}README.md" || echo "${folder}README.md does not say what must not be"
    fi
  done
}

check "includes run one way" layers
check "every folder says what it holds" folder_pages
check "no operator's name in the machinery" names_in_machinery
check "file names are unique" unique_names
check "exported symbols begin with assay_" exported_symbols
check "exercises are no part of the library" exercises_in_library
check "no library is linked that need not be" linked_libraries
check "the public headers compile alone as C11" public_header_c
check "the public header compiles alone as C++17" public_header_cxx
check "every header compiles alone" each_header_alone
check "links in documents lead somewhere" links
check "every source carries its licence line" licence_lines
check "no source is longer than 400 lines" file_lengths
check "the launcher works from anywhere" launcher
check "commands for the CPU open no CUDA library" opens_no_cuda
echo "1..$count"
[ "$failures" -eq 0 ]

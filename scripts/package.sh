#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the Debian packages from a copy of the tree, and tries them: scripts/package.sh [chroot]. What it makes stays in
# build/package/. The packages are installed below a folder of their own with a package database of its own, so no
# part of the system is touched; there check, apply and bench run, a program is built against the library, and the
# packages are removed again. With `chroot` the same is done once more in a fresh Debian, whose apt-get must find all that
# the packages depend on: as root, with debootstrap, from the mirror that MIRROR names, else debootstrap's own.
# Exit codes: 0 all as it must be, 1 not, 3 the tools are not here, 64 wrong usage.
cd "$(dirname "$0")/.." || exit 1
root=$PWD
export LC_ALL=C
unset ASSAY_SOURCE_DIR ASSAY_BUILD_DIR MAKEFLAGS MFLAGS MAKELEVEL

say() {
  printf '%s\n' "$*"
}

fail() {
  printf 'package: %s\n' "$*" >&2
  exit 1
}

tools="dpkg-buildpackage dh dpkg-deb"
case $# in
0) ;;
1) [ "$1" = chroot ] || { echo "package: takes nothing or the word chroot, not '$1'" >&2 && exit 64; }
  [ "$(id -u)" -eq 0 ] || { echo "package: chroot needs root" >&2 && exit 3; }
  tools="$tools debootstrap" ;;
*) echo "package: takes nothing or the word chroot" >&2 && exit 64 ;;
esac
fresh=${1:-}

for tool in $tools; do
  command -v $tool >/dev/null 2>&1 || {
    echo "package: $tool is not here: install dpkg-dev, debhelper and, for chroot, debootstrap (Debian, Ubuntu)" >&2
    exit 3
  }
done

version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
header=$(sed -n 's/^.define ASSAY_VERSION_[A-Z]* //p' include/assay/assay.h | paste -sd.)
[ "$version" = "$header" ] || fail "debian/changelog says $version, include/assay/assay.h says $header"

# ---- build -----------------------------------------------------------------------------------------------------

place=$root/build/package
source=$place/assay-$version
rm -rf "$place" && mkdir -p "$source" || fail "$place cannot be made anew"
# Reports of measurements are no part of a package, and larger than all the rest.
if [ -e .git ]; then
  git ls-files -co --exclude-standard -- . ':!results' | while read -r file; do [ -e "$file" ] && echo "$file"; done |
    tar -cf - -T - | tar -xf - -C "$source"
else
  tar -cf - --exclude=./build --exclude=./results --exclude=./work . | tar -xf - -C "$source"
fi
say "building in $source; what it says is in $place/log"
(cd "$source" && dpkg-buildpackage -us -uc -b -j"$(nproc)") >"$place/log" 2>&1 || {
  tail -n 30 "$place/log"
  fail "dpkg-buildpackage did not work"
}
grep -n 'dpkg-gensymbols: warning' "$place/log" && fail "debian/libassay0.symbols is not what the library exports"
for package in assay libassay0 libassay-dev; do
  set -- "$place/${package}_${version}"_*.deb
  [ -e "$1" ] || fail "there is no package $package"
  say "$(basename "$1"): $(dpkg-deb -c "$1" | wc -l) files and folders"
done
if command -v lintian >/dev/null 2>&1; then
  lintian --allow-root --fail-on error "$place"/*.changes || fail "lintian found an error"
else
  say "no lintian here: the packages were not looked over"
fi

# ---- install ---------------------------------------------------------------------------------------------------

system=$place/system
mkdir -p "$system/var/lib/dpkg/info" "$system/var/lib/dpkg/updates" "$system/var/log"
: >"$system/var/lib/dpkg/status"
package() {
  dpkg --root="$system" --force-not-root --force-depends --force-script-chrootless --force-bad-path --log=/dev/null "$@" \
    >>"$place/dpkg.log" 2>&1 || {
    tail -n 10 "$place/dpkg.log"
    fail "dpkg $1 did not work"
  }
}
package --install "$place/assay_${version}"_*.deb "$place/libassay0_${version}"_*.deb "$place/libassay-dev_${version}"_*.deb
assay=$system/usr/bin/assay
mkdir "$place/learner" && cd "$place/learner" || exit 1
# try CODE WORDS...: the installed program, which must end with that code.
try() {
  wanted=$1
  shift
  "$assay" "$@" >"$place/answer" 2>&1
  code=$?
  [ $code -eq "$wanted" ] || {
    tail -n 10 "$place/answer"
    fail "assay $*: exit status $code, not $wanted"
  }
  say "assay $*: $(tail -n 1 "$place/answer")"
}
try 0 --version
try 0 start w1
try 2 check w1
try 0 check all --solution --tier S --backend cpu
try 0 apply strided_softmax --in "$root/data/logits.npy" --out y.npy --check
try 0 bench w1 --solution --quick --shape 16x64 -o r.json
try 0 verify r.json
libraries=$(dirname "$(find "$system/usr/lib" -name libassay.so.0)")
cat >example.c <<'END'
#include <assay/assay.h>
#include <stdio.h>
int main(void) { return puts(assay_version()) < 0; }
END
${CC:-cc} example.c -I"$system/usr/include" -L"$libraries" -lassay -o example || fail "no program can be linked"
[ "$(LD_LIBRARY_PATH=$libraries ./example)" = "$version" ] || fail "a program that uses the library does not work"

# ---- remove ----------------------------------------------------------------------------------------------------

cd "$root" || exit 1
package --purge assay libassay-dev libassay0
left=$(find "$system" -mindepth 1 -not -path "$system/var*" -not -type d)
[ -z "$left" ] || fail "left behind: $left"

# ---- once more in a fresh system -------------------------------------------------------------------------------

# Runs in it, with the packages in /root: prints what was done, fails at the first thing that is not as it must be.
inside() {
  cat <<'END'
set -e
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
files() { find / -xdev -not -path '/proc/*' -not -path '/var/*' -not -path '/root/*' -not -path '/tmp/*' | sort; }
apt-get update -q
apt-get install -y -q --no-install-recommends gcc libc6-dev cmake make pkg-config
# What they depend on stays behind on purpose, as it would on any system: it is installed first.
apt-get install -y -q --no-install-recommends $(dpkg-deb -f /root/assay_*.deb Depends | tr ',' '\n' | sed 's/(.*//')
files >/tmp/before
apt-get install -y -q --no-install-recommends /root/*.deb
mkdir /tmp/empty && cd /tmp/empty
assay --version && assay start w1
code=0 && assay check w1 || code=$? && [ "$code" -eq 2 ]
assay check w1 --solution --tier S
assay apply strided_softmax --in /root/logits.npy --out y.npy --check
assay bench w1 --solution --quick --shape 16x64 -o r.json && assay verify r.json
cat >e.c <<'C'
#include <assay/assay.h>
#include <stdio.h>
int main(void) { return puts(assay_version()) < 0; }
C
cc e.c $(pkg-config --cflags --libs assay) -o e && ./e
printf 'project(e C)\nfind_package(assay REQUIRED)\nadd_executable(f e.c)\ntarget_link_libraries(f assay::assay)\n' >CMakeLists.txt
cmake -S . -B b && cmake --build b && b/f
apt-get purge -y -q assay libassay0 libassay-dev
files >/tmp/after
diff /tmp/before /tmp/after
END
}

if [ -n "$fresh" ]; then
  new=$place/chroot
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # shellcheck disable=SC2086
  debootstrap --variant=minbase "$codename" "$new" ${MIRROR:-} >"$place/debootstrap.log" 2>&1 || {
    tail -n 5 "$place/debootstrap.log"
    fail "debootstrap did not work"
  }
  cp "$place/assay_${version}"_*.deb "$place/libassay0_${version}"_*.deb "$place/libassay-dev_${version}"_*.deb data/logits.npy "$new/root/"
  cp /etc/resolv.conf "$new/etc/" 2>/dev/null
  inside >"$new/root/try.sh"
  mount -t proc proc "$new/proc" || fail "proc cannot be mounted in $new"
  chroot "$new" sh /root/try.sh >"$place/chroot.log" 2>&1
  code=$?
  umount "$new/proc"
  [ $code -eq 0 ] || {
    tail -n 15 "$place/chroot.log"
    fail "the packages do not work in a fresh system"
  }
  rm -rf "$new"
  say "in a fresh $codename they work too"
fi
say "the packages are in $place, work, and leave nothing behind"

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Installs what a goal needs and is missing: setup.sh build|image|check|gdb|flash|fuzz|soak|bench.
#
# Nothing missing: no root, no network, no output. Otherwise it uses apt-get as root or with
# `sudo -n`; else it asks on a terminal (sudo's password prompt), or without one prints the line to
# type and exits 2.
set -eu
cd "$(dirname "$0")/.."

build="gcc libc6-dev binutils flex bison libdw-dev libelf-dev zlib1g-dev libmicrohttpd-dev
    libprotobuf-c-dev protobuf-c-compiler
    gcc-arm-none-eabi libnewlib-arm-none-eabi picolibc-arm-none-eabi
    gcc-aarch64-linux-gnu picolibc-aarch64-linux-gnu
    newlib-source xz-utils qemu-system-arm qemu-system-x86 python3"
image="$build mtools fdisk grub-common grub-pc-bin grub-efi-amd64-bin"
check="$image ovmf bochs bochsbios bochs-term vgabios libcmocka-dev clang-format-14 valgrind clang-14 libclang-rt-14-dev groff-base
    gdb-multiarch g++ pkg-config chromium chromium-driver
    libbabeltrace2-dev babeltrace2 python3-bt2 trace-cmd protobuf-compiler
    libkshark-dev libjson-c-dev libtracecmd-dev libtracefs-dev libtraceevent-dev nodejs npm curl"
gdb="$build gdb-multiarch"
flash="$build openocd"
fuzz="$check"
soak="$check clickhouse-common"
bench="$check"

case ${1:-} in
build) wanted=$build ;;
image) wanted=$image ;;
check) wanted=$check ;;
gdb) wanted=$gdb ;;
flash) wanted=$flash ;;
fuzz) wanted=$fuzz ;;
soak) wanted=$soak ;;
bench) wanted=$bench ;;
*)
    echo "usage: setup.sh build|image|check|gdb|flash|fuzz|soak|bench" >&2
    exit 1
    ;;
esac

installed() {
    # A tool counts as there wherever it came from; for libraries only the package says.
    case $1 in
    gcc) command -v cc >/dev/null && return 0 ;;
    g++) command -v c++ >/dev/null && return 0 ;;
    binutils) command -v ld >/dev/null && return 0 ;;
    python3) [ -x /usr/bin/python3 ] && return 0 ;; # what every script names; no other counts
    nodejs) command -v node >/dev/null && return 0 ;;
    flex | bison | pkg-config | npm | curl) command -v "$1" >/dev/null && return 0 ;;
    qemu-system-arm)
        command -v qemu-system-arm >/dev/null && command -v qemu-system-aarch64 >/dev/null &&
            return 0
        ;;
    mtools) command -v mcopy >/dev/null && return 0 ;;
    fdisk) PATH=$PATH:/usr/sbin:/sbin command -v sfdisk >/dev/null && return 0 ;;
    gdb-multiarch | clang-format-14 | clang-14 | groff-base) command -v "${1%-base}" >/dev/null && return 0 ;;
    esac
    case $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) in
    installed) return 0 ;;
    esac
    return 1
}

missing=
for package in $wanted; do
    installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

options="-y --no-install-recommends -o DPkg::Lock::Timeout=900"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
elif [ -t 0 ] && [ -t 2 ] && command -v sudo >/dev/null; then
    as_root=sudo
    echo "Kymo needs these packages:$missing" >&2
    echo "Installing them with sudo; it may ask for your password." >&2
else
    echo "Packages are missing. Install them as root and try again:" >&2
    echo "  apt-get install $options$missing" >&2
    exit 2
fi

echo "Installing (this may take minutes):$missing"
log=build/setup.log
mkdir -p build
rm -f $log # root may have written it
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
{
    $as_root apt-get update -q -o DPkg::Lock::Timeout=900 &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q $options $missing
} >$log 2>&1 || {
    tail -n 10 $log >&2
    echo "setup: apt-get failed; all of it: $log. By hand: apt-get install $options$missing" >&2
    exit 2
}

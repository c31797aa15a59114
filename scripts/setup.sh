#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Installs what a goal needs and is missing: setup.sh demo|build|image|check|gdb|flash|fuzz|soak|bench.
#
# Nothing missing: no root, no network, no output. Otherwise it says what is missing for which part,
# and uses apt-get as root or with `sudo -n`, on a terminal with sudo's password prompt. Without
# rights it prints the command to type, without apt-get the list of what is needed, and exits 1.
# Usage error: 2. Proof: test/scripts/setup.
set -eu
cd "$(dirname "$0")/.."

# The one table: Debian's package, the part that needs it (below), how to see that it is there, and
# what it is for. How to see: a command; a <header> of C or a /path, which Debian's dpkg knows better;
# "-": only dpkg knows.
table="
gcc                         host     cc                     compiles the command kymo
libc6-dev                   host     <stdio.h>              the C library's headers
binutils                    host     ld                     links, and makes archives
flex                        host     flex                   the scanner of D's compiler
bison                       host     bison                  the parser of D's compiler
libdw-dev                   host     <dwarf.h>              types, lines and variables of programs
libelf-dev                  host     <gelf.h>               symbols of programs
zlib1g-dev                  host     <zlib.h>               compressed captures and pages
libmicrohttpd-dev           host     <microhttpd.h>         the server of kymo view
libprotobuf-c-dev           host     <protobuf-c/protobuf-c.h> kymo export --perfetto
protobuf-c-compiler         host     protoc-c               kymo export --perfetto
gcc-aarch64-linux-gnu       aarch64  aarch64-linux-gnu-gcc  compiles kernels and programs
picolibc-aarch64-linux-gnu  aarch64  /usr/lib/picolibc/aarch64-linux-gnu the programs' C library
qemu-system-arm             aarch64  qemu-system-aarch64    boots the images
gcc-arm-none-eabi           cortexm  arm-none-eabi-gcc      compiles kernels and programs
libnewlib-arm-none-eabi     cortexm  /usr/lib/arm-none-eabi/newlib the programs' C library
picolibc-arm-none-eabi      cortexm  /usr/lib/picolibc/arm-none-eabi the programs' other C library
qemu-system-arm             cortexm  qemu-system-arm        boots the images
newlib-source               pc       /usr/src/newlib        the programs' C library, which is built here
xz-utils                    pc       xz                     unpacks it
qemu-system-x86             pc       qemu-system-x86_64     boots the images
mtools                      media    mcopy                  writes disks that a PC or a Raspberry Pi starts from
fdisk                       media    sfdisk                 likewise
grub-common                 media    grub-mkimage           a PC's loader
grub-pc-bin                 media    /usr/lib/grub/i386-pc  likewise, for the BIOS
grub-efi-amd64-bin          media    /usr/lib/grub/x86_64-efi likewise, for UEFI
gdb-multiarch               gdb      gdb-multiarch          debugs every CPU
python3                     gdb      /usr/bin/python3       the scripts of gdb
openocd                     flash    openocd                writes a board's flash
python3                     tests    /usr/bin/python3       most tests are scripts
libcmocka-dev               tests    <cmocka.h>             unit tests
valgrind                    tests    valgrind               finds faults of memory
clang-14                    tests    clang-14               fuzzing, and the trace for other compilers
libclang-rt-14-dev          tests    -                      fuzzing
clang-format-14             tests    clang-format-14        the form of the sources
groff-base                  tests    groff                  the form of man pages
g++                         tests    c++                    the library from C++
pkg-config                  tests    pkg-config             flags of libraries
ovmf                        tests    /usr/share/OVMF        UEFI of the PCs that tests boot
bochs                       tests    bochs                  a second emulator of PCs
bochsbios                   tests    /usr/share/bochs       its BIOS
bochs-term                  tests    -                      its screen
vgabios                     tests    /usr/share/vgabios     likewise
chromium                    tests    chromium               draws the pages
chromium-driver             tests    chromedriver           works them
libbabeltrace2-dev          readers  <babeltrace2/babeltrace.h> babeltrace2's plugin
babeltrace2                 readers  babeltrace2            reads captures and exports
python3-bt2                 readers  -                      reads captures from Python
trace-cmd                   readers  trace-cmd              reads exports
protobuf-compiler           readers  protoc                 reads exports
libkshark-dev               readers  -                      reads exports
libjson-c-dev               readers  <json-c/json.h>        of KernelShark's library
libtracecmd-dev             readers  -                      likewise
libtracefs-dev              readers  -                      likewise
libtraceevent-dev           readers  -                      likewise
nodejs                      fleet    node                   DuckDB, speedscope, the pages' own code
npm                         fleet    npm                    fetches DuckDB and speedscope
curl                        fleet    curl                   kymo load, and the library's users
clickhouse-common           shards   -                      the servers of kymo load
"

build="host aarch64 cortexm pc"
check="$build media gdb tests readers fleet shards"

case ${1:-} in
demo) parts="host aarch64" ;;
build) parts=$build ;;
image) parts="$build media" ;;
check | fuzz | soak | bench) parts=$check ;;
gdb) parts="$build gdb" ;;
flash) parts="$build flash" ;;
*)
    echo "usage: setup.sh demo|build|image|check|gdb|flash|fuzz|soak|bench" >&2
    exit 2
    ;;
esac

purpose() { # of a part
    case $1 in
    host) echo "the command kymo" ;;
    aarch64) echo "boards virt-a64, raspi3 and xlnx-zcu102" ;;
    cortexm) echo "boards mps2-an386 and stm32f4" ;;
    pc) echo "board pc" ;;
    media) echo "disks and cards that a machine starts from" ;;
    gdb) echo "make gdb" ;;
    flash) echo "make flash" ;;
    tests) echo "make check: tests" ;;
    readers) echo "make check: other readers of captures" ;;
    fleet) echo "make check: captures of many devices" ;;
    shards) echo "make check-all: kymo load" ;;
    esac
}

has_command() {
    PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null
}

# A tool counts as there wherever it came from. Of a library Debian's package decides, elsewhere its
# header; what only Debian's packages know counts as there elsewhere.
installed() { # PACKAGE HOW
    case $2 in
    /usr/bin/python3) [ ! -x "$2" ] || return 0 ;; # what every script names; no other counts
    [a-z]*) ! has_command "$2" || return 0 ;;
    esac
    if has_command dpkg-query; then
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
        return
    fi
    case $2 in
    /*) [ -e "$2" ] ;;
    '<'*) echo "#include $2" | cc -E - >/dev/null 2>&1 ;;
    -) return 0 ;;
    *) return 1 ;;
    esac
}

# Each package once; missing_of_PART, for the message.
missing=
summary=
for part in $parts; do
    of_part=
    while read -r package of how why; do
        [ "$of" = "$part" ] || continue
        case " $missing " in *" $package "*) continue ;; esac
        installed "$package" "$how" || {
            of_part="$of_part $package"
            missing="$missing $package"
        }
    done <<TABLE
$table
TABLE
    [ -z "$of_part" ] || summary="$summary${summary:+; }for $(purpose "$part"):$of_part"
done
[ -n "$missing" ] || exit 0

# What is missing, part by part, with what each is for.
list_missing() {
    for part in $parts; do
        title="  for $(purpose "$part"):"
        while read -r package of how why; do
            [ "$of" = "$part" ] || continue
            case " $missing " in *" $package "*) ;; *) continue ;; esac
            [ -z "$title" ] || echo "$title"
            title=
            case $how in
            - | /usr/bin/python3) how= ;;
            esac
            echo "    $package${how:+ ($how)}: $why"
        done <<TABLE
$table
TABLE
    done
}

if ! has_command apt-get || ! has_command dpkg-query; then
    {
        echo "This system has no apt-get, which installs what Kymo needs on Debian. Missing here for" \
            "\`$1', by Debian's names, each with how it was looked for:"
        list_missing
        echo "Install these with this system's own tools and try again."
    } >&2
    exit 1
fi

options="-y --no-install-recommends -o DPkg::Lock::Timeout=900"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
elif [ -t 0 ] && [ -t 2 ] && has_command sudo; then
    as_root=sudo
    echo "Installing Debian packages with sudo, which may ask for your password." >&2
else
    {
        echo "Debian packages are missing, and installing them takes root's rights:"
        list_missing
        echo "Install them as root and try again:"
        echo "  apt-get install $options$missing"
    } >&2
    exit 1
fi

echo "Installing Debian packages, which may take minutes: $summary"
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
    exit 1
}

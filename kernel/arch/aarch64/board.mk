# SPDX-License-Identifier: BSD-2-Clause
# What all boards with Cortex-A53s say alike: their board.mk include this first, then say the rest
# (docs/guide/port.md). KYMO_TREE: where the tree is, if not here (scripts/app.mk).

comma := ,
CROSS := aarch64-linux-gnu-
# The kernel keeps its hands off FP registers: they are the programs' (switched lazily).
CPU_FLAGS_KERNEL := -mcpu=cortex-a53 -mgeneral-regs-only -mno-outline-atomics -fno-pic \
	-fno-stack-protector -fno-asynchronous-unwind-tables -fno-unwind-tables -mcmodel=small \
	-fomit-frame-pointer
CPU_FLAGS_USER := -mcpu=cortex-a53 -mno-outline-atomics -fno-omit-frame-pointer \
	-ftls-model=local-exec -fno-pic -fno-stack-protector -fno-asynchronous-unwind-tables
# This compiler is for programs of Linux: without -nostdinc a missing header would be found there.
CPU_FLAGS_USER += -nostdinc -isystem $(shell $(CROSS)gcc -print-file-name=include)
LIBC := picolibc
# Armv8.0 has its instructions as an option, every Cortex-A has them.
CRC32C_SRC := lib/arch/aarch64/crc32c.c
TRACE_CRC_SRC := trace/port/crc32c_aarch64.c
LIBCS := picolibc
# Tables that programs can make long: what waits is found by its priority.
ORDER := tree
TABLES := ram
D_OPTIONS := bufsize=4k aggsize=4k dynvarsize=4k strsize=64
BOARD_DEFS := -DCONFIG_TABLES_RAM=0xe000000 -DCONFIG_PROCESSES=1280 -DCONFIG_THREADS=4608 -DCONFIG_CHANNELS=2560 \
	-DCONFIG_CONNECTIONS=8192 -DCONFIG_PULSES=4096 -DCONFIG_TIMERS=4608 -DCONFIG_NAMES=1280 \
	-DCONFIG_MAPPINGS=1024 -DCONFIG_CLEAR_CHUNK=16384

# KERNEL_LDSYMS is the board's. KERNEL_VIRT_OFFSET is KERNEL_VIRT of kernel/arch/aarch64/shared.h.
# KERNEL_ENTRY: where the kernel is entered, if not at _start.
KERNEL_LD_DEPS := ldscripts/kernel.ld $(BOARD_DIR)/board.mk kernel/arch/aarch64/board.mk
# Around the A53's erratum 843419 always by a stub: whether a place can be mended without one hangs on
# how far its data are, which are not the same in all images, and fbt needs the same code in all.
KERNEL_LDFLAGS = $(addprefix -Wl$(comma)--defsym=,$(KERNEL_LDSYMS)) -T ldscripts/kernel.ld \
	$(KERNEL_ENTRY:%=-Wl$(comma)-e,%) -Wl,--fix-cortex-a53-843419=adrp \
	-nostartfiles -no-pie -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack
USER_LDSYMS := USER_TEXT=0x00400000 USER_ALIGN=4096
# Apart from all others, so that their instructions can be told by their addresses: test/bench/sustained.
tracelogger_LDFLAGS := -Wl,--defsym=USER_TEXT=0x10000000
diskd_LDFLAGS := -Wl,--defsym=USER_TEXT=0x18000000
USER_LDFLAGS := $(addprefix -Wl$(comma)--defsym=,$(USER_LDSYMS)) -T ldscripts/user.ld -nostartfiles \
	-static -no-pie -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack -Wl,--gc-sections
START_CLASS :=

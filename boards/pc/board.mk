# SPDX-License-Identifier: BSD-2-Clause
# A PC, 64 bits; in QEMU the machine q35. Memory and devices: README.md.

comma := ,
ARCH := x86_64
CROSS :=
# The kernel doesn't use SSE registers: they belong to the programs.
CPU_FLAGS_KERNEL := -m64 -march=x86-64 -mgeneral-regs-only -mno-red-zone -mcmodel=kernel -fno-pic -fno-pie \
	-fno-stack-protector -fcf-protection=none -fno-asynchronous-unwind-tables -fno-unwind-tables \
	-fomit-frame-pointer -U_FORTIFY_SOURCE
# No string instructions: an emulator executes them a word at a time.
CPU_FLAGS_KERNEL += -mstringop-strategy=unrolled_loop
# The entry code (kernel/arch/x86_64/entry.S) saves the callee-saved registers and restores them, so these
# paths from a call to its end need not. Only kernel_call(), and functions that it jumps to, call these files.
KEPT_BY_ENTRY := $(addprefix -fcall-used-,rbx r12 r13 r14 r15)
FLAGS_kernel/entry/msg_direct.c := $(KEPT_BY_ENTRY)
FLAGS_kernel/entry/msg_listened.c := $(KEPT_BY_ENTRY)
# MsgSend(), MsgReceive() and MsgReply() begin in kernel/entry/registers, with their words in registers. They
# stay in these registers: saving others would not be worth moving them.
CALL_WORDS := registers
FLAGS_kernel/entry/registers/msg_entry.c := $(KEPT_BY_ENTRY) -fno-shrink-wrap
# A call that succeeds calls nothing else. Its caller is found by DWARF, as that of any function.
FLAGS_lib/calls.c := -momit-leaf-frame-pointer
CPU_FLAGS_USER := -m64 -march=x86-64 -fno-omit-frame-pointer -ftls-model=local-exec -fno-pic -fno-pie \
	-fno-stack-protector -fcf-protection=none -fno-asynchronous-unwind-tables -U_FORTIFY_SOURCE
# This compiler is for programs of the build machine: without -nostdinc a missing header would be found there.
NEWLIB := build/newlib/x86_64-elf
CPU_FLAGS_USER += -nostdinc -isystem $(shell $(CROSS)gcc -print-file-name=include) -isystem $(KYMO_TREE)$(NEWLIB)/include
LIBC := newlib
LIBCS := newlib
ORDER := tree
TABLES := ram
D_OPTIONS := bufsize=4k aggsize=4k dynvarsize=4k strsize=64

BOARD_DEFS := -DCONFIG_CPUS=8 -DCONFIG_TABLES_RAM=0xe000000 -DCONFIG_PROCESSES=1280 -DCONFIG_THREADS=4608 -DCONFIG_CHANNELS=2560 \
	-DCONFIG_CONNECTIONS=8192 -DCONFIG_PULSES=4096 -DCONFIG_TIMERS=4608 -DCONFIG_NAMES=1280 \
	-DCONFIG_MAPPINGS=1024 -DCONFIG_CLEAR_CHUNK=16384 -DBOARD_RAM_BYTES=0x10000000 \
	-DCONFIG_RETAIN_BASE=0x200000ul -DCONFIG_RETAIN_BYTES=0x800000ul -DCONFIG_PCID=1
BOARD_DRIVERS := boards/drivers/uart16550.c boards/drivers/ioapic.c boards/drivers/acpi.c \
	boards/drivers/pci.c boards/drivers/pci_config.c boards/drivers/msi.c \
	boards/drivers/pctime.c boards/drivers/multiboot2.c boards/drivers/screen.c

# KERNEL_VIRT_OFFSET is KERNEL_VIRT of kernel/arch/x86_64/shared.h. The first 2 MB are the firmware's;
# the retained memory comes next.
KERNEL_LDSYMS := KERNEL_START=0xffffffff80a00000 KERNEL_VIRT_OFFSET=0xffffffff80000000 \
	KERNEL_ALIGN=4096 KERNEL_ROOM=0x480000 RETAIN_BASE=0xffffffff80200000 RETAIN_BYTES=0x800000
KERNEL_LD_DEPS := ldscripts/kernel.ld $(BOARD_DIR)/board.mk
KERNEL_LDFLAGS := $(addprefix -Wl$(comma)--defsym=,$(KERNEL_LDSYMS)) -T ldscripts/kernel.ld \
	-nostartfiles -no-pie -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack
USER_LDSYMS := USER_TEXT=0x00400000 USER_ALIGN=4096
tracelogger_LDFLAGS := -Wl,--defsym=USER_TEXT=0x10000000
USER_LDFLAGS := $(addprefix -Wl$(comma)--defsym=,$(USER_LDSYMS)) -T ldscripts/user.ld -nostartfiles \
	-static -no-pie -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack -Wl,--gc-sections -L$(KYMO_TREE)$(NEWLIB)/lib

# The test images that are built: those of the suites that run on this board (README.md).
BOARD_TEST_IMAGES := smoke test libtest x86_64 kill fuzz probes torture torture-few sites map torture-soak fair-unrecorded bench bench_events \
	fbt fbtall stacks crash crashes crashes-noise samples samples-off causes d life life-multi dfuzz quota \
	slain-disk down faults storms control-smp4 interrupt stubs console qnx help panic reset wrong failed servers \
	flight gate loss drops ring log statics events events-wide truth killed why pid helper places probed probed-multi
SEMIHOSTING := no
# What programs drive: docs/guide/port.md.
CONSOLE_UART := 16550
LINK_LINE := 16550 virtio
LINK_FRAME_MOST := 1024
LINK_WINDOW := 16
DISK := pc
TEST_DEVICE := hpet
START_CLASS :=
CRASH_DEFS := -DCRASH_UNMAPPED=0xe8000000u -DCRASH_DEVICE=0xfec00000u \
	-DCRASH_KERNEL_DATA=0xffffffff80e80000u -DCRASH_KERNEL_TEXT=0xffffffff80a00400u

SMP ?= 4
QEMU := qemu-system-x86_64
QEMU_FLAGS := -M q35 -cpu max -smp $(SMP) -m 256M -nic none -display none -vga none -monitor none -serial stdio \
	-rtc clock=vm -device isa-debug-exit,iobase=0xf4,iosize=4
# The disk's device, for a drive "disk", and the link's, for a chardev "link": the second serial port.
QEMU_LINK := -serial chardev:link
QEMU_DISK := -device virtio-blk-pci,drive=disk,disable-legacy=on

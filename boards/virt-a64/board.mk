# SPDX-License-Identifier: BSD-2-Clause
# QEMU's `virt` machine with Cortex-A53s. Memory and devices: README.md.

comma := ,
ARCH := aarch64
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
CRC32C_SRC := lib/arch/aarch64/crc32c.c # Armv8.0 has it as an option, every Cortex-A has
LIBCS := picolibc
# Tables that programs can make long: what waits is found by its priority.
ORDER := tree
TABLES := ram
D_OPTIONS := bufsize=4k aggsize=4k dynvarsize=4k strsize=64

# What the device tree does not say is said here: RAM without one.
BOARD_DEFS := -DCONFIG_CPUS=8 -DCONFIG_TABLES_RAM=0xe000000 -DCONFIG_PROCESSES=1280 -DCONFIG_THREADS=4608 -DCONFIG_CHANNELS=2560 \
	-DCONFIG_CONNECTIONS=8192 -DCONFIG_PULSES=4096 -DCONFIG_TIMERS=4608 -DCONFIG_NAMES=1280 \
	-DCONFIG_MAPPINGS=1024 -DCONFIG_CLEAR_CHUNK=16384 -DBOARD_RAM_BYTES=0x10000000 \
	-DCONFIG_RETAIN_BASE=0x40200000ul -DCONFIG_RETAIN_BYTES=0x800000ul
BOARD_DRIVERS := boards/drivers/pl011.c boards/drivers/gicv2.c boards/drivers/fdt.c boards/drivers/psci.c

# KERNEL_VIRT_OFFSET is KERNEL_VIRT of kernel/arch/aarch64/shared.h. The first 2 MB of RAM are the
# device tree's: QEMU puts it there only if the image leaves room. The retained memory comes next.
KERNEL_LDSYMS := KERNEL_START=0xffffff8040a00000 KERNEL_VIRT_OFFSET=0xffffff8000000000 \
	KERNEL_ALIGN=4096 KERNEL_ROOM=0x280000 RETAIN_BASE=0xffffff8040200000 RETAIN_BYTES=0x800000
KERNEL_LD_DEPS := ldscripts/kernel.ld $(BOARD_DIR)/board.mk
# Around the A53's erratum 843419 always by a stub: whether a place can be mended without one hangs on
# how far its data are, which are not the same in all images, and fbt needs the same code in all.
KERNEL_LDFLAGS := $(addprefix -Wl$(comma)--defsym=,$(KERNEL_LDSYMS)) -T ldscripts/kernel.ld \
	-Wl,--fix-cortex-a53-843419=adrp \
	-nostartfiles -no-pie -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack
USER_LDSYMS := USER_TEXT=0x00400000 USER_ALIGN=4096
# Apart from all others, so that their instructions can be told by their addresses: test/bench/sustained.
tracelogger_LDFLAGS := -Wl,--defsym=USER_TEXT=0x10000000
diskd_LDFLAGS := -Wl,--defsym=USER_TEXT=0x18000000
USER_LDFLAGS := $(addprefix -Wl$(comma)--defsym=,$(USER_LDSYMS)) -T ldscripts/user.ld -nostartfiles \
	-static -no-pie -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack -Wl,--gc-sections

# What programs drive: docs/port.md.
CONSOLE_UART := pl011
FLAGS_apps/console/uart_pl011.c := -DPL011_BASE=0x09000000 -DPL011_IRQ=33
LINK_LINE := virtio
LINK_FRAME_MOST := 4096
LINK_WINDOW := 16
DISK := virtio
TEST_DEVICE := pl031
START_CLASS :=
CRASH_DEFS := -DCRASH_UNMAPPED=0xe8000000u -DCRASH_DEVICE=0x09000000u \
	-DCRASH_KERNEL_DATA=0xffffff8040400000u -DCRASH_KERNEL_TEXT=0xffffff8040200400u

SMP ?= 4
QEMU := qemu-system-aarch64
QEMU_FLAGS := -M virt -cpu cortex-a53 -smp $(SMP) -m 256M -nic none -display none -monitor none -serial stdio \
	-rtc clock=vm -semihosting-config enable=on,target=native
# The disk's and the link's device, for a drive "disk" and a chardev "link": boards/virt-a64/README.md.
QEMU_DISK := -device virtio-blk-device,drive=disk
QEMU_LINK := -device virtio-serial-device -device virtserialport,chardev=link

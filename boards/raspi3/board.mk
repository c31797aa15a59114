# SPDX-License-Identifier: BSD-2-Clause
# Raspberry Pi 3 (BCM2837): four Cortex-A53. Memory and devices: README.md.

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
CRC32C_SRC := lib/arch/aarch64/crc32c.c
LIBCS := picolibc
# Tables that programs can make long: what waits is found by its priority.
ORDER := tree
TABLES := ram
D_OPTIONS := bufsize=4k aggsize=4k dynvarsize=4k strsize=64

BOARD_DEFS := -DCONFIG_CPUS=4 -DCONFIG_TABLES_RAM=0xe000000 -DCONFIG_PROCESSES=1280 -DCONFIG_THREADS=4608 -DCONFIG_CHANNELS=2560 \
	-DCONFIG_CONNECTIONS=8192 -DCONFIG_PULSES=4096 -DCONFIG_TIMERS=4608 -DCONFIG_NAMES=1280 \
	-DCONFIG_MAPPINGS=1024 -DCONFIG_CLEAR_CHUNK=16384 \
	-DCONFIG_RETAIN_BASE=0x800000ul -DCONFIG_RETAIN_BYTES=0x800000ul
BOARD_DRIVERS := boards/drivers/pl011.c boards/drivers/bcm2836.c

# The firmware loads the image to 0x80000. The retained memory lies behind it, where no loader writes,
# and is followed by the kernel's page tables and the memory for processes.
KERNEL_LDSYMS := KERNEL_START=0xffffff8000080000 KERNEL_VIRT_OFFSET=0xffffff8000000000 \
	KERNEL_ALIGN=4096 KERNEL_ROOM=0x400000 KERNEL_FREE=0xffffff8001000000 \
	RETAIN_BASE=0xffffff8000800000 RETAIN_BYTES=0x800000
KERNEL_LD_DEPS := ldscripts/kernel.ld $(BOARD_DIR)/board.mk
# Around the A53's erratum 843419 always by a stub: boards/virt-a64/board.mk has why.
KERNEL_LDFLAGS := $(addprefix -Wl$(comma)--defsym=,$(KERNEL_LDSYMS)) -T ldscripts/kernel.ld \
	-Wl,-e,raspi3_start -Wl,--fix-cortex-a53-843419=adrp \
	-nostartfiles -no-pie -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack
USER_LDSYMS := USER_TEXT=0x00400000 USER_ALIGN=4096
# Apart from all others, so that their instructions can be told by their addresses: test/bench/sustained.
tracelogger_LDFLAGS := -Wl,--defsym=USER_TEXT=0x10000000
diskd_LDFLAGS := -Wl,--defsym=USER_TEXT=0x18000000
USER_LDFLAGS := $(addprefix -Wl$(comma)--defsym=,$(USER_LDSYMS)) -T ldscripts/user.ld -nostartfiles \
	-static -no-pie -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack -Wl,--gc-sections

# What programs drive: docs/port.md.
CONSOLE_UART := pl011
FLAGS_apps/console/uart_pl011.c := -DPL011_BASE=0x3f201000 -DPL011_IRQ=57
LINK_LINE := bcm2835_aux
LINK_FRAME_MOST := 1024
LINK_WINDOW := 16
DISK := sdhci
FLAGS_apps/diskd/sdhci.c := -DSDHCI_BASE=0x3f300000 -DSDHCI_IRQ=62 -DSDHCI_HZ=250000000u
TEST_DEVICE := bcm2835
START_CLASS :=
CRASH_DEFS := -DCRASH_UNMAPPED=0xe8000000u -DCRASH_DEVICE=0x3f201000u \
	-DCRASH_KERNEL_DATA=0xffffff8000480000u -DCRASH_KERNEL_TEXT=0xffffff8000080400u

# QEMU's machine has always four CPUs and 1 GB.
QEMU := qemu-system-aarch64
QEMU_FLAGS := -M raspi3b -smp 4 -nic none -display none -monitor none -serial stdio \
	-rtc clock=vm -semihosting-config enable=on,target=native
# The second UART is the link's; a card for a drive "disk" is put into the EMMC.
QEMU_LINK := -serial chardev:link
QEMU_DISK := -device sd-card,drive=disk,bus=sd-bus

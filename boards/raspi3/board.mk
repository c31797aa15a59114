# SPDX-License-Identifier: BSD-2-Clause
# Raspberry Pi 3 (BCM2837): four Cortex-A53. Memory and devices: README.md.

ARCH := aarch64
include $(KYMO_TREE)kernel/arch/aarch64/board.mk

BOARD_DEFS += -DCONFIG_CPUS=4 -DCONFIG_RETAIN_BASE=0x800000ul -DCONFIG_RETAIN_BYTES=0x800000ul
BOARD_DRIVERS := boards/drivers/pl011.c boards/drivers/bcm2836.c

# The firmware loads the image to 0x80000. The retained memory is after it, where no loader writes,
# and is followed by the kernel's page tables and the memory for processes.
KERNEL_LDSYMS := KERNEL_START=0xffffff8000080000 KERNEL_VIRT_OFFSET=0xffffff8000000000 \
	KERNEL_ALIGN=4096 KERNEL_ROOM=0x400000 KERNEL_FREE=0xffffff8001000000 \
	RETAIN_BASE=0xffffff8000800000 RETAIN_BYTES=0x800000
KERNEL_ENTRY := raspi3_start

# What programs drive: docs/guide/port.md.
CONSOLE_UART := pl011
FLAGS_apps/console/uart_pl011.c := -DPL011_BASE=0x3f201000 -DPL011_IRQ=57
LINK_LINE := bcm2835_aux
LINK_FRAME_MOST := 1024
LINK_WINDOW := 16
DISK := sdhci
FLAGS_apps/diskd/sdhci.c := -DSDHCI_BASE=0x3f300000 -DSDHCI_IRQ=62 -DSDHCI_HZ=250000000u
TEST_DEVICE := bcm2835
CRASH_DEFS := -DCRASH_UNMAPPED=0xe8000000u -DCRASH_DEVICE=0x3f201000u \
	-DCRASH_KERNEL_DATA=0xffffff8000480000u -DCRASH_KERNEL_TEXT=0xffffff8000080400u

# The images that `make check` boots; `make soak` builds the others (soak-images).
BOARD_TEST_IMAGES := smoke bench bench_events

# QEMU's machine always has four CPUs and 1 GB.
QEMU := qemu-system-aarch64
QEMU_FLAGS := -M raspi3b -smp 4 -nic none -display none -monitor none -serial stdio \
	-rtc clock=vm -semihosting-config enable=on,target=native
# The second UART is the link's; a card for a drive "disk" is inserted into the EMMC.
QEMU_LINK := -serial chardev:link
QEMU_DISK := -device sd-card,drive=disk,bus=sd-bus

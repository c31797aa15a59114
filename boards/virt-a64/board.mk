# SPDX-License-Identifier: BSD-2-Clause
# QEMU's `virt` machine with Cortex-A53s. Memory and devices: README.md.

ARCH := aarch64
include $(KYMO_TREE)kernel/arch/aarch64/board.mk

# Values that are used if the device tree doesn't have them, such as RAM.
BOARD_DEFS += -DCONFIG_CPUS=8 -DBOARD_RAM_BYTES=0x10000000 \
	-DCONFIG_RETAIN_BASE=0x40200000ul -DCONFIG_RETAIN_BYTES=0x800000ul
BOARD_DRIVERS := boards/drivers/pl011.c boards/drivers/gicv2.c boards/drivers/gicv2_a64.c boards/drivers/fdt.c boards/drivers/psci.c

# The first 2 MB of RAM are for the device tree: QEMU puts it there only if the image leaves room. The
# retained memory comes next. A debug image is larger; a release image leaves the memory to programs.
KERNEL_LDSYMS := KERNEL_START=0xffffff8040a00000 KERNEL_VIRT_OFFSET=0xffffff8000000000 \
	KERNEL_ALIGN=4096 KERNEL_ROOM=$(if $(filter 1,$(DEBUG)),0x2c0000,0x280000) RETAIN_BASE=0xffffff8040200000 RETAIN_BYTES=0x800000

# What programs drive: docs/guide/port.md.
CONSOLE_UART := pl011
FLAGS_apps/console/uart_pl011.c := -DPL011_BASE=0x09000000 -DPL011_IRQ=33
LINK_LINE := virtio
LINK_FRAME_MOST := 4096
LINK_WINDOW := 16
DISK := virtio
TEST_DEVICE := pl031
CRASH_DEFS := -DCRASH_UNMAPPED=0xe8000000u -DCRASH_DEVICE=0x09000000u \
	-DCRASH_KERNEL_DATA=0xffffff8040400000u -DCRASH_KERNEL_TEXT=0xffffff8040200400u

SMP ?= 4
QEMU := qemu-system-aarch64
QEMU_FLAGS := -M virt -cpu cortex-a53 -smp $(SMP) -m 256M -nic none -display none -monitor none -serial stdio \
	-rtc clock=vm -semihosting-config enable=on,target=native
# The disk's and the link's device, for a drive "disk" and a chardev "link": boards/virt-a64/README.md.
QEMU_DISK := -device virtio-blk-device,drive=disk
QEMU_LINK := -device virtio-serial-device -device virtserialport,chardev=link

# SPDX-License-Identifier: BSD-2-Clause
# Xilinx ZCU102 (Zynq UltraScale+): four Cortex-A53. Memory and devices: README.md.

ARCH := aarch64
include $(KYMO_TREE)kernel/arch/aarch64/board.mk

BOARD_DEFS += -DCONFIG_CPUS=4 -DBOARD_RAM_BYTES=0x20000000ul \
	-DCONFIG_RETAIN_BASE=0x800000ul -DCONFIG_RETAIN_BYTES=0x800000ul
BOARD_DRIVERS := boards/drivers/gicv2.c boards/drivers/gicv2_a64.c boards/drivers/psci.c

# RAM begins at 0. The retained memory is after the image, where no loader writes, and is followed
# by the kernel's page tables and the memory for processes.
KERNEL_LDSYMS := KERNEL_START=0xffffff8000080000 KERNEL_VIRT_OFFSET=0xffffff8000000000 \
	KERNEL_ALIGN=4096 KERNEL_ROOM=0x400000 KERNEL_FREE=0xffffff8001000000 \
	RETAIN_BASE=0xffffff8000800000 RETAIN_BYTES=0x800000

# What programs drive: docs/guide/port.md.
CONSOLE_UART := cadence
FLAGS_apps/console/uart_cadence.c := -DCADENCE_BASE=0xff000000 -DCADENCE_IRQ=53
LINK_LINE := cadence
FLAGS_apps/linkd/line_cadence.c := -DCADENCE_BASE=0xff010000 -DCADENCE_IRQ=54
LINK_FRAME_MOST := 1024
LINK_WINDOW := 16
DISK := none
TEST_DEVICE := cadence
CRASH_DEFS := -DCRASH_UNMAPPED=0xe8000000u -DCRASH_DEVICE=0xff000000u \
	-DCRASH_KERNEL_DATA=0xffffff8000480000u -DCRASH_KERNEL_TEXT=0xffffff8000080400u
# The images of this board: for people, and of the suites that run on it; `make check` boots some of
# these, `make soak` builds the others (soak-images).
ONLY_IMAGES := hello shell live smoke test helper bench bench_events
BOARD_TEST_IMAGES := smoke bench bench_events

# QEMU's machine may have fewer CPUs; this board requires all four.
QEMU := qemu-system-aarch64
QEMU_FLAGS := -M xlnx-zcu102 -smp 4 -m 512M -nic none -display none -monitor none -serial stdio \
	-audiodev none,id=none -rtc clock=vm -semihosting-config enable=on,target=native
# The link's device, for a chardev "link": the second UART.
QEMU_LINK := -serial chardev:link
QEMU_DISK :=

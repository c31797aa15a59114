# SPDX-License-Identifier: BSD-2-Clause
# Arm MPS2+ with the AN386 image: Cortex-M4 with FPU and MPU. Memory and devices: README.md.

include $(KYMO_TREE)kernel/arch/armv7m/board.mk
ARCH := armv7m
ATOMIC := armv7m
# The linker orders functions by name, rarely called ones among the others, like the table of function
# probes, whose distances are then short (kernel/dtrace/fbt_table.h).
CPU_FLAGS_KERNEL := -mcpu=cortex-m4 -mthumb -mfloat-abi=soft -ffunction-sections -fno-reorder-functions
# With D the NOPs before functions are room for branches of function probes: docs/inside/fbt.md.
FBT_PAD_FLAGS := $(if $(filter 0,$(D)),,-fpatchable-function-entry=2$(comma)2 -include kernel/arch/armv7m/pads.h)
CPU_FLAGS_USER := -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -mword-relocations
LIBC := newlib
LIBCS := newlib picolibc
# D: a 16 KB buffer and short strings are sufficient defaults.
D_OPTIONS := bufsize=4k aggsize=4k dynvarsize=4k strsize=64

# The sampling interrupt is the dual timer's; the trace clock's own line is never raised by it.
# The trace clock is TIMER0, a 25 MHz down counter: inverted it runs up. CONFIG_IRQ_LEVEL: lines
# whose devices hold them high until they are served (all of the CMSDK's do).
BOARD_DEFS := -DTRACE_CLOCK_REG=0x40000004u -DTRACE_CLOCK_INVERT=0xffffffffu \
	-DCONFIG_CLOCK_HZ=25000000u -DCONFIG_SYSTICK_HZ=25000000u \
	-DCONFIG_RETAIN_BASE=0x20200000u -DCONFIG_RETAIN_BYTES=0x200000u \
	-DCONFIG_IRQ_LINES=32 -DCONFIG_IRQ_LEVEL=0xffffffffu -DCONFIG_SAMPLE_IRQ=10 -DCONFIG_SAMPLED_IRQ=8 -DCONFIG_CPUS=1 -DCONFIG_TIMER_MIN_US=500 \
	-DCONFIG_D_BUFSIZE=16384 -DCONFIG_D_AGGSIZE=8192 -DCONFIG_D_SPECSIZE=4096 \
	-DCONFIG_D_DYNVARSIZE=8192 -DCONFIG_D_STRSIZE=64
# Text is in RAM: trace sites are patched.
BOARD_DRIVERS := boards/drivers/cmsdk_uart.c boards/drivers/cmsdk_timer.c \
	boards/drivers/cmsdk_dual.c boards/drivers/cmsdk_wdog.c \
	kernel/arch/armv7m/patch/ram.c

KERNEL_LDSYMS := KERNEL_START=0 KERNEL_VIRT_OFFSET=0 KERNEL_ALIGN=16 KERNEL_DATA=0x20000000 \
	KERNEL_LOAD_MOST=0x3e8000 KERNEL_SLOTS=0x3e8000 KERNEL_SLOTS_BYTES=0x18000 \
	RETAIN_BASE=0x20200000 RETAIN_BYTES=0x200000
KERNEL_UNCALLED := out
KERNEL_LD_DEPS := ldscripts/kernel.ld $(BOARD_DIR)/board.mk
KERNEL_LDFLAGS := $(addprefix -Wl$(comma)--defsym=,$(KERNEL_LDSYMS)) -T ldscripts/kernel.ld -nostartfiles -Wl,--sort-section=name
USER_LDSYMS := USER_TEXT=0x01000000 USER_DATA=0x10000000 USER_ALIGN=16
USER_LDFLAGS := $(addprefix -Wl$(comma)--defsym=,$(USER_LDSYMS)) -T ldscripts/user.ld -nostartfiles \
	-static -Wl,--emit-relocs -Wl,--gc-sections

# The files that mkimage writes, for a card that has others.
MEDIUM_SUFFIX := .card.tar
# What programs drive: docs/guide/port.md.
CONSOLE_UART := cmsdk
LINK_LINE := cmsdk rtt
LINK_FRAME_MOST := 240
LINK_WINDOW := 8
DISK := none
TEST_DEVICE := cmsdk
START_CLASS := -m4
CRASH_DEFS := -DCRASH_UNMAPPED=0x70000000u -DCRASH_DEVICE=0x40005000u \
	-DCRASH_KERNEL_DATA=0x20000000u -DCRASH_KERNEL_TEXT=0x00000400u

QEMU := qemu-system-arm
QEMU_FLAGS := -M mps2-an386 -cpu cortex-m4 -display none -monitor none -serial stdio \
	-semihosting-config enable=on,target=native
# The link's device, connected to a chardev named link: the second UART.
QEMU_LINK := -serial chardev:link

# SPDX-License-Identifier: BSD-2-Clause
# Boards with an STM32F405 or F407: Cortex-M4 with FPU and MPU, 1 MB of flash, 128 KB of RAM: README.md.

include $(KYMO_TREE)kernel/arch/armv7m/board.mk
ARCH := armv7m
ATOMIC := armv7m
# The kernel is compiled for size: -Os follows -O2.
CPU_FLAGS_KERNEL := -mcpu=cortex-m4 -mthumb -mfloat-abi=soft -ffunction-sections $(D_SMALL_FLAGS)
CPU_FLAGS_USER := -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16
LIBC := picolibc
LIBCS := picolibc
# The effects of -Os are undone in the code of a probe firing: its costs, as D computes them, were counted
# on mps2-an386, whose kernel is compiled for speed.
D_HOT_FLAGS := -O2 -fschedule-insns2 -fmove-loop-invariants -ftree-loop-im -ftree-dominator-opts \
	-fforward-propagate -ftree-ccp $(D_HOT_FLAGS)
D_OPTIONS := bufsize=1k aggsize=1k dynvarsize=1k strsize=32

# Text runs from flash: trace sites are loaded, programs run in the boot image, linked for
# their addresses in it by scripts/place.
SITES := loaded
# A window of 25 KB, in images that use it, in which a reset preserves a ring of 16 KB. The ring must be
# a region of the MPU, so it begins at a multiple of 16 KB: 0x20010000.
RETAIN := ring
RETAIN_IMAGES := recorder
RETAIN_BASE := 0x2000e200
RETAIN_BYTES := 0x5e00
RETAIN_LIVE := 0x940
RETAIN_DEFS := -DCONFIG_RETAIN_BASE=$(RETAIN_BASE)u -DCONFIG_RETAIN_BYTES=$(RETAIN_BYTES)u \
	-DCONFIG_RETAIN_LIVE=$(RETAIN_LIVE)u -DCONFIG_RETAIN_HEADER_BYTES=0x100u \
	-DCONFIG_RETAIN_PANIC_BYTES=0x400u -DCONFIG_RETAIN_BOOTS_BYTES=0x20u \
	-DCONFIG_RETAIN_FROZEN_BYTES=0x420u -DCONFIG_RETAIN_D_BYTES=0u -DCONFIG_RETAIN_LIVE_BYTES=0x780u \
	-DCONFIG_RETAIN_PAGE_BYTES=0u -DCONFIG_RETAIN_NOTES_BYTES=0x180u -DCONFIG_RETAIN_NAMES_BYTES=0x600u
THREAD_FILTERS := no
HELPERS := no
COUNTERS := no
PLACE := flash
# Functions that are not called are left out: this board has no memory at address 0.
KERNEL_UNCALLED := out
# Entries of the kernel's tables are allocated when they are first used.
TABLES := grown
# The board has a dozen threads at most.
READY := one
# 2 KB buffers.
TRACE_SLOTS ?= 128

# The frequency of the board's crystal: 8 (STM32F4-Discovery, Olimex H405), 25 (Netduino Plus 2),
# 0: none. A crystal that does not oscillate is replaced by the chip's RC oscillator.
CRYSTAL_MHZ ?= 8
# CCM=yes: the kernel's data and stacks are in the core-coupled memory, which the chips have and QEMU's
# machine lacks, and all of the other RAM belongs to the processes.
CCM ?= no
$(if $(filter-out yes no,$(CCM)),$(error CCM=$(CCM): yes or no))
KERNEL_DATA := $(if $(filter yes,$(CCM)),0x10000000,0x20000000)
KERNEL_DATA_MOST := $(if $(filter yes,$(CCM)),0x10000)
RAM_END := 0x20020000
# RAM from here on is for data of programs. If an image's programs need more, they share it: two that do
# so can't run at the same time.
USER_RAM := 0x20018000
# The trace clock is TIM2, which counts up at 84 MHz. All lines are held until their device is served.
# Line 79 is the CRYP's, which these chips do not have.
BOARD_DEFS := -DTRACE_CLOCK_REG=0x40000024u -DTRACE_CLOCK_INVERT=0u \
	-DCONFIG_CLOCK_HZ=84000000u -DCONFIG_SYSTICK_HZ=168000000u -DCONFIG_CRYSTAL_MHZ=$(CRYSTAL_MHZ)u \
	-DCONFIG_RAM_END=$(RAM_END)u $(if $(KERNEL_DATA_MOST),-DCONFIG_RAM_START=0x20000000u) $(RETAIN_DEFS) \
	-DCONFIG_IRQ_LINES=82 '-DCONFIG_IRQ_LEVEL=0xffffffffu,0xffffffffu,0x3ffffu' \
	-DCONFIG_SAMPLE_IRQ=50 -DCONFIG_SAMPLED_IRQ=79 -DCONFIG_CPUS=1 -DCONFIG_TIMER_MIN_US=500 \
	-DCONFIG_D_BUFSIZE=1024 -DCONFIG_D_AGGSIZE=1024 -DCONFIG_D_SPECSIZE=1024 \
	-DCONFIG_D_DYNVARSIZE=1024 -DCONFIG_D_STRSIZE=32 -DCONFIG_D_CHUNK=256u \
	-DCONFIG_CONSOLE_KEPT=256u -DCONFIG_STACK=2048u -DCONFIG_HEAP=1024u \
	-DCONFIG_PROCESSES=8 -DCONFIG_THREADS=12 -DCONFIG_THREADS_PER_PROCESS=8 \
	-DCONFIG_CHANNELS=12 -DCONFIG_CHANNELS_PER_PROCESS=4 -DCONFIG_CONNECTIONS=20 \
	-DCONFIG_CONNECTIONS_PER_PROCESS=8 -DCONFIG_PULSES=40 -DCONFIG_TIMERS=8 -DCONFIG_TIMERS_PER_PROCESS=8 \
	-DCONFIG_NAMES=8 -DCONFIG_OBJECTS=2 -DCONFIG_MAPPINGS=8 -DCONFIG_GROUPS=1 \
	-DCONFIG_INTERRUPT_ATTACHMENTS=8 -DCONFIG_CRASH_REPORTS=1 -DDTRACE_PROBE_CHUNKS=32 -DDTRACE_PROBE_CHUNK=16u -DDTRACE_CPUS_MOST=1 \
	-DCONFIG_D_CONSUMERS=4 -DDTRACE_CONSUMERS_MOST=4 -DCONFIG_D_GONE=4
BOARD_DRIVERS := $(addprefix boards/drivers/stm32_,clock.c usart.c timer.c)

# The boot image begins at a multiple of the largest region of an MPU that a program's text may need.
KERNEL_FLASH := 0x08000000
IMAGE_FLASH := 0x08040000
FLASH_END := 0x08100000
KERNEL_LDSYMS := KERNEL_START=$(KERNEL_FLASH) KERNEL_VIRT_OFFSET=0 KERNEL_ALIGN=16 KERNEL_DATA=$(KERNEL_DATA) \
	$(addprefix KERNEL_DATA_MOST=,$(KERNEL_DATA_MOST)) KERNEL_IMAGE=$(IMAGE_FLASH) KERNEL_LOAD_MOST=0x100000 \
	RETAIN_BASE=$(RETAIN_BASE) RETAIN_BYTES=$(RETAIN_BYTES) RETAIN_LIVE=$(RETAIN_LIVE)
KERNEL_LD_DEPS := ldscripts/kernel.ld $(BOARD_DIR)/board.mk
KERNEL_LDFLAGS := $(addprefix -Wl$(comma)--defsym=,$(KERNEL_LDSYMS)) -T ldscripts/kernel.ld -nostartfiles
USER_LDSYMS := USER_ALIGN=16
# The address for a program that is linked for no image: its size is the same at any address. Without page alignment in
# the file.
USER_PLACE := -Wl$(comma)--defsym=USER_TEXT=0x08080000 -Wl$(comma)--defsym=USER_DATA=0x20010000
USER_LDFLAGS := $(addprefix -Wl$(comma)--defsym=,$(USER_LDSYMS)) -T ldscripts/user.ld -nostartfiles \
	-static -Wl,--gc-sections -Wl,-z,max-page-size=32 -Wl,-z,common-page-size=32

# What programs drive: docs/guide/port.md.
CONSOLE_UART := stm32
LINK_LINE := stm32 rtt
LINK_FRAME_MOST := 192
LINK_WINDOW := 4
DISK := none
INIT_SCRIPT_MAX := 1024
USER_DEFS := -DCAPTURE_CPUS_MAX=1 -DSTDIO_BUFFER=64 -DCONSOLE_KEPT=512 -DEDIT_HISTORY=2 -DLINKD_CONSOLES=1 -DLINK_RTT_BYTES=512 \
	-DRETAIN_SLOTS_MOST=TRACE_BUFFER_SLOTS -DRETAIN_BUFFERS_MOST=8 -DRETAIN_CPUS_MOST=1 -DRETAIN_CHUNK=128
# The images of this board: of apps/, of test/board/in_place and of test/bench.
ONLY_IMAGES := hello trio oneliner rtt recorder kernel bench_placed bench_placed_events
START_CLASS := -m4
CRASH_DEFS := -DCRASH_UNMAPPED=0x70000000u -DCRASH_DEVICE=0x40004800u \
	-DCRASH_KERNEL_DATA=0x20000000u -DCRASH_KERNEL_TEXT=0x08000400u

# Over the debug probe of an STM32F4-Discovery, or any other ST-LINK. OPENOCD_FLAGS: for another probe.
OPENOCD_FLAGS ?= -f interface/stlink.cfg -f target/stm32f4x.cfg
FLASH = openocd $(OPENOCD_FLAGS) -c "program $$elf verify reset exit"

QEMU := qemu-system-arm
QEMU_FLAGS := -M netduinoplus2 -display none -monitor none -serial null -serial stdio \
	-semihosting-config enable=on,target=native
# The link's device, connected to a chardev named link: USART3.
QEMU_LINK := -serial chardev:link

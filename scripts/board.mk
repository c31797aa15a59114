# SPDX-License-Identifier: BSD-2-Clause
#
# Everything of one board: called by the Makefile with BOARD=<board>. Goals: images (default),
# kernel-objs, programs, or any file below build/<board>/.
#
# boards/<board>/board.mk has what is the board's alone (docs/guide/port.md); lib/lib.mk what programs
# link; apps/apps.mk, test/*/programs.mk and test/*/*/programs.mk the programs and their images.

ifndef BOARD
$(error BOARD is not set)
endif
# On the command line: B=<folder below build/> keeps a variant of a board apart, e.g. one with LIBC=;
# DEBUG=1: with assertions, in a folder of its own (an environment's DEBUG means something else).
override DEBUG := $(if $(filter command,$(firstword $(origin DEBUG))),$(DEBUG),0)
B := build/$(BOARD)$(if $(filter 1,$(DEBUG)),-debug)
V ?= 0
Q := $(if $(filter 0,$(V)),@)
say = $(if $(filter 0,$(V)),@printf '  %-7s %s\n' '$(1)' '$(patsubst build/%,%,$@)')

.DEFAULT_GOAL := images
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

# BOARDS_DIR=<folder of this tree> on the command line: boards that are not in boards/.
BOARDS_DIR := boards
BOARD_DIR := $(BOARDS_DIR)/$(BOARD)
include $(BOARD_DIR)/board.mk
include scripts/assert.mk
$(if $(filter $(LIBC),$(LIBCS)),,$(error no C library $(LIBC) for $(BOARD); there are: $(LIBCS)))

CC := $(CROSS)gcc
AR := $(CROSS)ar
OBJCOPY := $(CROSS)objcopy
OBJDUMP := $(CROSS)objdump
NM := $(CROSS)nm
SIZE := $(CROSS)size
# No path of the building machine gets into an image; build ids depend on contents only.
# TRACE_SLOTS: the slots of a trace buffer, where not 1024 (trace/slot.h).
TRACE_SLOTS ?=
SLOTS_MAY_BE := $(shell awk -v n='$(TRACE_SLOTS)' '/define TRACE_BUFFER_SLOTS_LEAST/ { least = $$3 } \
	/define TRACE_BUFFER_SLOTS_MOST/ { most = $$3 } \
	END { if (n != "" && (n !~ /^[1-9][0-9]*$$/ || n + 0 < least || n + 0 > most)) print least " to " most }' trace/slot.h)
$(if $(SLOTS_MAY_BE),$(error TRACE_SLOTS=$(TRACE_SLOTS): a trace buffer has $(SLOTS_MAY_BE) slots))
COMMON_FLAGS := -std=gnu11 -g -Wall -Wextra -Werror -MMD -MP '-ffile-prefix-map=$(CURDIR)=.' -I. \
	$(TRACE_SLOTS:%=-DTRACE_BUFFER_SLOTS=%)
AS_FLAGS := '-Wa,--debug-prefix-map=$(CURDIR)=.'

# ---- the kernel ----------------------------------------------------------------------------------

# Without D (D=0): to tell what it costs.
D ?= 1
# What a probe firing costs, in this machine's instructions; elsewhere in steps: trace/dtrace/cost.def.
D_WEIGHTS_armv7m := m4
D_WEIGHTS_aarch64 := a64
# How trace sites are switched, of kernel/observe/sites: patched, or loaded where the text runs from
# flash. Then nothing patches functions either: the table of those that fbt can probe is empty.
SITES ?= patched
FBT_NONE_loaded := kernel/dtrace/none/fbt.c
FBT_NOT_loaded := $(addprefix kernel/,$(addprefix dtrace/,fbt.c fbt_fire.c fbt_slot.c) $(addprefix arch/$(ARCH)/probe/,calls.S slot.c))
# The provider pid, of kernel/dtrace/user: where programs' text is RAM and the port has a folder step;
# D's counters, of kernel/dtrace/count: where it has a folder count. COUNTERS=no: none; COUNTER_PROBES=no: no cpc.
USER_PROBES ?= $(if $(filter patched,$(SITES)),$(if $(wildcard kernel/arch/$(ARCH)/step),yes))
USER_SRCS_yes := $(wildcard kernel/dtrace/user/*.c kernel/arch/$(ARCH)/step/*.c)
USER_SRCS_ := $(wildcard kernel/arch/$(ARCH)/none/step.c)
HAS_COUNTERS := $(if $(filter 1,$(D)),$(if $(filter no,$(COUNTERS)),,$(if $(wildcard kernel/arch/$(ARCH)/count),yes)))
COUNTER_SRCS_yes := $(filter-out $(if $(filter no,$(COUNTER_PROBES)),%/count/fire.c %/count/provider.c),$(wildcard kernel/dtrace/count/*.c kernel/arch/$(ARCH)/count/*.c))
COUNTER_SRCS_ := $(wildcard kernel/arch/$(ARCH)/none/count.c)
# Boards have all subroutines, no probes by number, no list of probes for C; texts of refusals are in images. HELPERS=no: no helpers.
D_SRCS_1 := $(FBT_NONE_$(SITES)) $(filter-out $(FBT_NOT_$(SITES)) $(if $(filter no,$(HELPERS)),kernel/dtrace/frames.c trace/dtrace/helper%) trace/dtrace/subr_none.c trace/dtrace/fire_number.c trace/dtrace/probe_next.c trace/dtrace/reason.c $(if $(HAS_COUNTERS),,trace/dtrace/counters.c),$(wildcard kernel/dtrace/*.c trace/dtrace/*.c trace/dtrace/provider/*.c \
	kernel/arch/$(ARCH)/probe/*.c kernel/arch/$(ARCH)/probe/*.S)) \
	$(D_WEIGHTS_$(ARCH):%=trace/dtrace/cost/%.c) $(USER_SRCS_$(filter yes,$(USER_PROBES))) $(COUNTER_SRCS_$(HAS_COUNTERS))
RETAIN_NONE := kernel/dtrace/none/retained.c trace/dtrace/none/retained.c
D_SRCS_0 := kernel/dtrace/none/none.c kernel/dtrace/none/fbt.c $(RETAIN_NONE) $(wildcard kernel/arch/$(ARCH)/none/*.c)
# Memory that a reset preserves: window; ring: a window without room for D's own buffers.
RETAIN ?= window
RETAIN_SRCS_ring := $(if $(filter 1,$(D)),$(RETAIN_NONE))
RETAIN_NOT_ring := kernel/dtrace/retained.c
# RETAIN_IMAGES: the only images that have the window, where RAM is short: in others it is the programs'.
RETAIN_IMAGES ?=
image_retains = $(if $(RETAIN_IMAGES),$(if $(filter $(1),$(RETAIN_IMAGES)),,-DIMAGE_RETAINS=0))
# Static filters of the event log by process and thread, which take 4 KB: yes, or no.
THREAD_FILTERS ?= yes
# The event log's parts: trace/trace.mk.
include trace/trace.mk
TRACE_SRCS := $(call trace_srcs,gate kercall retain $(if $(filter yes,$(THREAD_FILTERS)),threads) $(patsubst 1,dtrace,$(D)))
DEBUG_SRCS_1 := $(filter-out $(if $(filter 0,$(D)),%/paid.c),$(wildcard kernel/observe/debug/*.c))
# The kernel's rooms: each may include what stands to its left (scripts/check-includes).
KERNEL_ROOMS := base proc mem thread ipc time sync intr observe program dtrace entry
# kernel/dtrace/ is chosen by D=; ports with an MMU share kernel/arch/mmu/.
ARCH_MMU_aarch64 := kernel/arch/mmu/*.c
ARCH_MMU_x86_64 := kernel/arch/mmu/*.c
OFFSETS_SRC := kernel/arch/$(ARCH)/offsets.c
TRACE_OFFSETS_SRC := kernel/observe/offsets.c
# How queues by priority find a place, of kernel/base/order: board.mk may set it.
ORDER ?= list
# How READY threads are kept, of kernel/thread/ready, likewise.
READY ?= each
# Where its tables are, of kernel/base/table, likewise.
TABLES ?= fixed
# How trace/ changes what interrupts and other CPUs change too: trace/port/atomic_$(ATOMIC).h.
ATOMIC ?= native
KERNEL_SRCS := $(wildcard kernel/base/order/$(ORDER).c kernel/base/table/$(TABLES).c kernel/thread/ready/$(READY).c $(CALL_WORDS:%=kernel/entry/%/*.c)) \
	kernel/observe/sites/$(SITES).c kernel/observe/sites/$(SITES)_programs.c $(RETAIN_SRCS_$(RETAIN)) $(filter-out $(RETAIN_NOT_$(RETAIN)),$(sort $(filter-out $(OFFSETS_SRC) $(TRACE_OFFSETS_SRC),$(wildcard $(patsubst %,kernel/%/*.c,$(filter-out dtrace,$(KERNEL_ROOMS))) \
	kernel/arch/$(ARCH)/*.c kernel/arch/$(ARCH)/*.S $(ARCH_MMU_$(ARCH)) $(BOARD_DIR)/*.c $(BOARD_DIR)/*.S))) $(BOARD_DRIVERS) \
	$(TRACE_SRCS) $(D_SRCS_$(D)) $(DEBUG_SRCS_$(DEBUG)))
# What only boards' drivers and tests may call, in an archive: a kernel in which nothing calls it leaves
# it out.
KERNEL_CALLED_SRCS := trace/interrupt_call.c kernel/observe/trace_event.c
KERNEL_SRCS := $(filter-out $(KERNEL_CALLED_SRCS),$(KERNEL_SRCS))
# KERNEL_FROM=<folder>: the kernel's objects are those that stand there, only programs are of this
# folder.
KERNEL_OBJS := $(addprefix $(or $(KERNEL_FROM),$(B))/,$(addsuffix .o,$(basename $(KERNEL_SRCS))))
# SAME_FROM=<folder>: a kernel without D takes the objects that a kernel with D has, too, from there. The
# others are those that stand for D's, and those with pads (scripts/d.mk), if the CPU has pads.
SAME_FROM ?=
same_objs = $(filter-out $(addprefix $(B)/,kernel/dtrace/% kernel/arch/$(ARCH)/none/% trace/none/% trace/dtrace/none/% $(FBT_PADDED:%=%.o)),$(KERNEL_OBJS))
KERNEL_CALLED_OBJS := $(KERNEL_CALLED_SRCS:%.c=$(B)/%.o)
KERNEL_LIBS := $(B)/kernel/called.a -lgcc
KERNEL_LD_DEPS += $(B)/kernel/called.a
KERNEL_FLAGS := $(COMMON_FLAGS) -O2 -ffreestanding -DKYMO_KERNEL $(CPU_FLAGS_KERNEL) $(BOARD_DEFS) \
	-DBOARD_NAME='"$(BOARD)"' $(USER_RAM:%=-DCONFIG_PLACED_RAM=%u) \
	-DARCH_OPS_H='"kernel/arch/$(ARCH)/ops.h"' -DARCH_PAGES_H='"kernel/arch/$(ARCH)/pages.h"' -DTRACE_PORT_OPS_H='"trace/port/$(ARCH).h"' \
	-DKERNEL_ORDER_H='"kernel/base/order/$(ORDER).h"' -DKERNEL_TABLE_H='"kernel/base/table/$(TABLES).h"' -DKERNEL_READY_H='"kernel/thread/ready/$(READY).h"' \
	-DTRACE_PORT_SITES_H='"trace/port/$(SITES).h"' -DTRACE_PORT_SYSTEM_H='"kernel/arch/$(ARCH)/trace.h"' -DTRACE_ATOMIC_OPS_H='"trace/port/atomic_$(ATOMIC).h"' \
	-DARCH_OFFSETS_H='"$(B)/offsets.h"' -DTRACE_OFFSETS_H='"$(B)/trace_offsets.h"' \
	-DDTRACE_PORT_OPS_H='"kernel/dtrace/port_ops.h"' -DKERNEL_USER_PROBES_H='"kernel/dtrace/$(if $(filter yes,$(USER_PROBES)),user,none)/hook.h"' -DKERNEL_COUNTERS_H='"kernel/dtrace/$(if $(HAS_COUNTERS),count/$(if $(filter no,$(COUNTER_PROBES)),variables,count),none/count).h"' -DKERNEL_COUNTS_H='"kernel/thread/counts/$(if $(HAS_COUNTERS),kept,none).h"' $(D_WEIGHTS_$(ARCH):%=-DDTRACE_PORT_WEIGHTS=dtrace_weights_%) $(if $(filter no,$(HELPERS)),-DCONFIG_D_HELPERS=0) $(ASSERT_FLAGS_$(DEBUG))

# A kernel without D leaves out what only D calls. Others keep functions that nothing calls: the linker
# would leave their debug information at address 0, where some boards have code. KERNEL_UNCALLED=out: this
# board has its vectors there, which are longer than any such function.
KERNEL_UNCALLED ?=
KERNEL_LINK := -nostdlib -static $(if $(filter 0,$(D))$(filter out,$(KERNEL_UNCALLED)),-Wl$(comma)--gc-sections) \
	-Wl,--build-id,-z,noexecstack

# The event hooks: the top Makefile generates them (host/host.mk).
# What is compiled with KERNEL_FLAGS needs these first, whatever it includes.
KERNEL_GEN := build/gen/trace_hooks.h $(B)/offsets.h $(B)/trace_offsets.h
$(KERNEL_OBJS) $(KERNEL_CALLED_OBJS): | $(KERNEL_GEN)

# The structs' offsets, for the .S files and for the trace port: offsets.c is compiled to assembler, whose
# lines "->NAME value" are taken out. Those of the trace port are 0 meanwhile.
$(B)/offsets.h: $(OFFSETS_SRC)
$(B)/trace_offsets.h: $(TRACE_OFFSETS_SRC)
$(B)/offsets.h $(B)/trace_offsets.h: $(B)/flags | build/gen/trace_hooks.h
	@mkdir -p $(@D)
	$(call say,OFFSETS)
	$(Q)$(CC) $(KERNEL_FLAGS) -UTRACE_OFFSETS_H -DTRACE_OFFSETS_H='"kernel/observe/offsets_none.h"' \
		-MT $@ -MF $(@:.h=.d) -S -o $(@:.h=.s) $(filter %.c,$^)
	$(Q)sed -n -e '1i/* Generated from $(filter %.c,$^). */' -e 's/.*"->\([A-Z0-9_]* [0-9]*\)".*/#define \1/p' $(@:.h=.s) > $@

$(KERNEL_OBJS) $(KERNEL_CALLED_OBJS): EXTRA_FLAGS = $(KERNEL_FLAGS) $(FLAGS_$<)
# How D's files are compiled, and which functions have pads for its probes.
include scripts/d.mk
ifneq ($(SAME_FROM),)
SAME_OBJS := $(same_objs)
KERNEL_OBJS := $(filter-out $(SAME_OBJS),$(KERNEL_OBJS)) $(SAME_OBJS:$(B)/%=$(SAME_FROM)/%)
endif
$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(EXTRA_FLAGS) -c -o $@ $<
$(B)/%.o: %.S $(B)/flags
	@mkdir -p $(@D)
	$(call say,AS)
	$(Q)$(CC) $(EXTRA_FLAGS) $(AS_FLAGS) -c -o $@ $<

# Changed flags rebuild everything of the board. Where the tree is makes no difference.
FILE_FLAGS = $(foreach v,$(sort $(filter FLAGS_%,$(.VARIABLES))),$(v)=$($(v)))
ALL_FLAGS = $(CC) $(KERNEL_FLAGS) $(USER_FLAGS) $(AS_FLAGS) $(LIBC) $(D_COLD_FLAGS) $(D_HOT_FLAGS) $(D_HOT) \
	$(D_HOT_SMALL) $(D_HOT_SMALL_FLAGS) $(D_WHOLE) $(D_APART) $(D_APART_FLAGS) $(FBT_PADDED) $(FBT_PAD_FLAGS) $(KERNEL_LINK) $(FILE_FLAGS)
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' "$(subst $(CURDIR),.,$(subst ",\",$(ALL_FLAGS)))" | cmp -s - $@ || \
		printf '%s\n' "$(subst $(CURDIR),.,$(subst ",\",$(ALL_FLAGS)))" > $@
.PHONY: FORCE
FORCE:

# What D's function probes (kernel/dtrace/fbt.c) know of the functions, and kernel/observe/unwind.c of
# their stacks: from a kernel that is linked without these tables. The table lies behind the code, so
# that all images have theirs at the same addresses; each is checked.
# A kernel without D has the stacks' table, too: for panics.
# NO_UNWIND=1: a CPU whose instructions host/unwind doesn't know yet. Its table of stacks is empty.
UNWIND_C = $(if $(NO_UNWIND),grep kernel_unwind kernel/dtrace/none/fbt_table.c,build/tools/mkunwind -c $<)
FBT_OBJS_0 := $(B)/unwind_table.o
FBT_OBJS_1 := $(B)/$(if $(filter loaded,$(SITES)),unwind_table,fbt_table).o
FBT_OBJS := $(FBT_OBJS_$(D))
FBT_FIRST_OBJS := $(KERNEL_OBJS) $(B)/kernel/dtrace/none/fbt_table.o $(B)/fbt_first.image.o
FBT_CHECK_1 = $(if $(filter loaded,$(SITES)),true,build/tools/mkfbt --check $(B)/fbt_first.elf)
FBT_CHECK_0 = true
$(B)/kernel/dtrace/none/fbt_table.o $(sort $(FBT_OBJS_0) $(FBT_OBJS_1)): EXTRA_FLAGS = $(KERNEL_FLAGS)
$(B)/kernel/dtrace/none/fbt_table.o: | $(KERNEL_GEN)

$(B)/fbt_first.image.o: scripts/image.S
	@mkdir -p $(@D)
	$(Q): > $(B)/fbt_first.cpio
	$(Q)$(CC) $(CPU_FLAGS_KERNEL) -DIMAGE='"$(B)/fbt_first.cpio"' -DIMAGE_NAME='""' -c -o $@ $<

$(B)/fbt_first.elf: $(FBT_FIRST_OBJS) $(KERNEL_LD_DEPS)
	$(call say,LD)
	$(Q)$(CC) $(CPU_FLAGS_KERNEL) $(KERNEL_LINK) \
		-Wl,-Map=$(B)/fbt_first.map $(KERNEL_LDFLAGS) -o $@ $(FBT_FIRST_OBJS) $(KERNEL_LIBS)

$(B)/fbt_table.c: $(B)/fbt_first.elf build/tools/mkfbt build/tools/mkunwind
	$(call say,FBT)
	$(Q)build/tools/mkfbt $< $(B)/fbt_first.map $(or $(KERNEL_FROM),$(B)) $@ $(B)/fbt.txt
	$(Q)$(UNWIND_C) >> $@

$(B)/unwind_table.c: $(B)/fbt_first.elf build/tools/mkunwind
	$(call say,UNWIND)
	$(Q)$(if $(filter 1,$(D)),grep -v kernel_unwind kernel/dtrace/none/fbt_table.c,echo '#include "kernel/dtrace/fbt_table.h"') > $@
	$(Q)$(UNWIND_C) >> $@

$(B)/fbt_table.o $(B)/unwind_table.o: %.o: %.c $(B)/flags
	$(call say,CC)
	$(Q)$(CC) $(EXTRA_FLAGS) -c -o $@ $<

# The kernel without a boot image: what D programs of boot images are compiled with. All images have
# its code and data at the same addresses (scripts/same-layout).
$(B)/kernel.elf: $(KERNEL_OBJS) $(FBT_OBJS) $(B)/fbt_first.image.o $(KERNEL_LD_DEPS)
	$(call say,LD)
	$(Q)$(CC) $(CPU_FLAGS_KERNEL) $(KERNEL_LINK) \
		$(KERNEL_LDFLAGS) -o $@ $(KERNEL_OBJS) $(FBT_OBJS) $(B)/fbt_first.image.o $(KERNEL_LIBS)

$(B)/kernel/called.a: $(KERNEL_CALLED_OBJS)
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcsD $@ $(KERNEL_CALLED_OBJS)

.PHONY: kernel-objs
kernel-objs: $(KERNEL_OBJS) $(KERNEL_CALLED_OBJS)

# ---- user programs -------------------------------------------------------------------------------

# Sizes of tables in programs that a board sets by -D.
USER_DEFS ?=
USER_FLAGS = $(COMMON_FLAGS) -O2 $(CPU_FLAGS_USER) $(USER_DEFS) -Ilib/include -Iabi \
	-DSYSTEM_PROBE_H='"lib/system_probe/$(SITES).h"'
PROGRAMS :=
IMAGES := # for people: offered by name
TEST_IMAGES := # in a folder of their own
TEST_IMAGES_ASKED_FOR := # made by their name only
-include lib/lib.mk
-include apps/apps.mk
-include tracelogger/tracelogger.mk
-include $(wildcard test/*/programs.mk test/*/*/programs.mk)

# ONLY_IMAGES: all that a small board has room for, of the images above.
IMAGES := $(if $(ONLY_IMAGES),$(filter $(ONLY_IMAGES),$(IMAGES)),$(IMAGES))
TEST_IMAGES := $(if $(ONLY_IMAGES),$(filter $(ONLY_IMAGES),$(TEST_IMAGES)),$(TEST_IMAGES))
TEST_IMAGES_ASKED_FOR := $(if $(ONLY_IMAGES),,$(TEST_IMAGES_ASKED_FOR))
# A board that can't run all suites yet, or not in `make check`, says which test images it wants:
# BOARD_TEST_IMAGES.
ifdef BOARD_TEST_IMAGES
TEST_IMAGES_ASKED_FOR += $(filter-out $(BOARD_TEST_IMAGES),$(TEST_IMAGES))
TEST_IMAGES := $(filter $(BOARD_TEST_IMAGES),$(TEST_IMAGES))
endif

LIB_OBJS := $(addprefix $(B)/user/,$(addsuffix .o,$(basename $(LIB_SRCS))))
program_objs = $(addprefix $(B)/user/,$(addsuffix .o,$(basename $($(1)_SRCS))))
USER_OBJS := $(sort $(LIB_OBJS) $(foreach p,$(PROGRAMS),$(call program_objs,$(p))))

# FLAGS_<path of a source file>: more flags for that file.
$(USER_OBJS): | $(NEWLIB_MADE)
$(USER_OBJS): EXTRA_FLAGS = $(USER_FLAGS) $(FLAGS_$<)
$(B)/user/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(EXTRA_FLAGS) -c -o $@ $<
$(B)/user/%.o: %.S $(B)/flags
	@mkdir -p $(@D)
	$(call say,AS)
	$(Q)$(CC) $(EXTRA_FLAGS) $(AS_FLAGS) -c -o $@ $<

$(B)/lib/libkymo.a: $(LIB_OBJS)
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcsD $@ $(LIB_OBJS)

define program_rule
$(B)/programs/$(1) $(B)/maps/$(1).map &: $(call program_objs,$(1)) $(B)/lib/libkymo.a
	@mkdir -p $(B)/programs $(B)/maps
	$$(call say,LD)
	$$(Q)$$(CC) $$(CPU_FLAGS_USER) -nostdlib $$(USER_LDFLAGS) $$($(1)_LDFLAGS) -Wl,--build-id,-z,noexecstack,-Map=$(B)/maps/$(1).map -o $(B)/programs/$(1) \
		$$(USER_PLACE) $(call program_objs,$(1)) -Wl,--start-group $(B)/lib/libkymo.a $$(USER_LIBS) -Wl,--end-group
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$(p))))

# What goes into images.
include scripts/strip.mk
$(B)/stripped/%: $(B)/programs/% $(STRIP_TOOLS)
	@mkdir -p $(@D)
	$(call strip_program,$<,$@)

.PHONY: programs
programs: $(addprefix $(B)/programs/,$(PROGRAMS))

# ---- boot images ---------------------------------------------------------------------------------
#
# <image>.cpio (programs and start script) -> <image>.image.o -> <image>.elf: one file that boots, in
# $(B)/, or $(B)/test-images/ if only tests boot it (test/board/guest.py and host/run/build.c know).
# <image>_KERNEL_OBJS, <image>_LDFLAGS: what a test has in that image's kernel, which then has no
# function probes: they are at places of their own.

# D programs in an image: <image>_D lists scripts; the file in it is called <script>.dif.
dif = $(B)/d/$(1:.d=.dif)
$(B)/d/%.dif: %.d build/tools/mkd
	@mkdir -p $(@D)
	$(call say,D)
	$(Q)build/tools/mkd $@ $(ARCH) $< $(D_OPTIONS)

# BOOT_D=file.d: a D program that is at work before the first process is, in every image that is
# made. `kymo dtrace -a` claims it. <image>_BOOT_D: one that an image always has.
boot_dif = $(if $(BOOT_D),$(B)/d/boot.dif,$(patsubst %.d,$(B)/boot_d_of/%.dif,$($(1)_BOOT_D)))
# IMAGE_D="a.d b.d": more of them in every image that is made, as a.dif and b.dif: `tracelogger -x`.
# <image>_IMAGE_D: those that an image always has.
image_dif = $(B)/boot_d_of/$(1:.d=.dif)
$(B)/boot_d: FORCE
	@mkdir -p $(@D)
	@echo '$(BOOT_D) $(IMAGE_D)' | cmp -s - $@ || echo '$(BOOT_D) $(IMAGE_D)' > $@
$(B)/d/boot.dif: $(BOOT_D) $(B)/boot_d $(B)/kernel.elf build/kymo
	@mkdir -p $(@D)
	$(call say,D)
	$(Q)build/kymo dtrace -t elf:$(B)/kernel.elf --compile $@ -s $(BOOT_D)
$(B)/boot_d_of/%.dif: %.d $(B)/kernel.elf build/kymo
	@mkdir -p $(@D)
	$(call say,D)
	$(Q)build/kymo dtrace -t elf:$(B)/kernel.elf $(D_PROGRAMS:%=--elf %) --compile $@ -s $<

# What an image must agree with, unless it has objects of its own in its kernel.
KERNEL_ELF_1 := $(B)/kernel.elf
kernel_elf = $(if $($(1)_KERNEL_OBJS),,$(KERNEL_ELF_$(D)))
fbt_objs = $(if $($(1)_KERNEL_OBJS),$(B)/kernel/dtrace/none/fbt_table.o,$(FBT_OBJS))

# CPIO_FROM=<folder>: the programs and scripts are those of the images that stand there, only the
# kernel is of this folder.
image_cpio = $(if $(CPIO_FROM),$(2:$(B)/%=$(CPIO_FROM)/%),$(2)).cpio

image_at = $(B)/$(if $(filter $(1),$(IMAGES)),,test-images/)$(1)

# PLACE=flash: programs run where the image has them. Each is linked for its place in this image, found
# by the size of the one in programs/, and for RAM for its data. IMAGE.placed/ has them, with DWARF.
PLACE ?=
image_program = $(if $(PLACE),$(1).placed/$(2).stripped,$(B)/stripped/$(2))
# The nth word of what scripts/place says of a program.
place_of = $$(awk '$$1 == "$(2)" { print $$$(3) }' $(1).places)
define placed_rule
$(1).placed/$(2): $(1).places $(B)/programs/$(2)
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CC) $$(CPU_FLAGS_USER) -nostdlib $$(USER_LDFLAGS) $$($(2)_LDFLAGS) -Wl,--build-id,-z,noexecstack -o $$@ \
		-Wl,--defsym=USER_TEXT=$$(call place_of,$(1),$(2),2),--defsym=USER_DATA=$$(call place_of,$(1),$(2),3) \
		$(call program_objs,$(2)) -Wl,--start-group $(B)/lib/libkymo.a $$(USER_LIBS) -Wl,--end-group
$(1).placed/$(2).stripped: $(1).placed/$(2) $$(STRIP_TOOLS)
	$$(call strip_program,$$<,$$@)
endef
define places_rule
$(2).places: $(addprefix $(B)/stripped/,$($(1)_PROGRAMS)) scripts/place $(BOARD_DIR)/board.mk
	@mkdir -p $$(@D)
	$$(Q)scripts/place $(IMAGE_FLASH) $(FLASH_END) $(USER_RAM) $(RAM_END) \
		$(foreach p,$(sort $($(1)_PROGRAMS)),$(B)/stripped/$(p)) > $$@.tmp
	$$(Q)mv $$@.tmp $$@
$(foreach p,$(sort $($(1)_PROGRAMS)),$(eval $(call placed_rule,$(2),$(p))))
endef

define image_rule
$(if $(PLACE),$(eval $(call places_rule,$(1),$(2))))
$(2).cpio: $($(1)_SCRIPT) $(foreach p,$($(1)_PROGRAMS),$(call image_program,$(2),$(p))) \
		$(foreach d,$($(1)_D),$(call dif,$(d))) build/tools/mkcpio $(B)/boot_d $(boot_dif) \
		$(foreach d,$(IMAGE_D) $($(1)_IMAGE_D),$(call image_dif,$(d)))
	@mkdir -p $$(@D)
	$$(call say,CPIO)
	$$(Q)build/tools/mkcpio $(if $(PLACE),-a $(IMAGE_FLASH)) $$@ \
		$(foreach p,$(if $(PLACE),$(sort $($(1)_PROGRAMS)),$($(1)_PROGRAMS)),$(p)=$(call image_program,$(2),$(p))) start=$($(1)_SCRIPT) \
		$(foreach d,$($(1)_D),$(notdir $(d:.d=.dif))=$(call dif,$(d))) \
		$(foreach d,$(IMAGE_D) $($(1)_IMAGE_D),$(notdir $(d:.d=.dif))=$(call image_dif,$(d))) \
		$(addprefix boot.dif=,$(boot_dif))

$(2).image.o: $(call image_cpio,$(1),$(2)) scripts/image.S
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CPU_FLAGS_KERNEL) -DIMAGE='"$$<"' -DIMAGE_NAME='"$(1)"' $(image_retains) -c -o $$@ scripts/image.S

$(2).elf: $(KERNEL_OBJS) $(call fbt_objs,$(1)) $($(1)_KERNEL_OBJS) $(2).image.o $(KERNEL_LD_DEPS) \
		$(call kernel_elf,$(1))
	$$(call say,LD)
	$$(Q)$$(CC) $$(CPU_FLAGS_KERNEL) $$(KERNEL_LINK) -Wl,-Map=$(2).map \
		$$(KERNEL_LDFLAGS) $($(1)_LDFLAGS) -o $$@ $(KERNEL_OBJS) $(call fbt_objs,$(1)) $($(1)_KERNEL_OBJS) \
		$(2).image.o $(KERNEL_LIBS)
	$$(Q)$(if $($(1)_KERNEL_OBJS),true,$$(FBT_CHECK_$(D))) $$@
	$$(Q)$(if $(call kernel_elf,$(1)),scripts/same-layout $(call kernel_elf,$(1)) $$@)
	$$(Q)$$(SIZE) -A -d $$@ > $(2).size
endef
ALL_IMAGES := $(IMAGES) $(TEST_IMAGES) $(TEST_IMAGES_ASKED_FOR)
$(foreach i,$(ALL_IMAGES),$(eval $(call image_rule,$(i),$(call image_at,$(i)))))

# Not with the images: it takes longer than to link them.
$(B)/%.lst: $(B)/%.elf
	$(call say,LST)
	$(Q)$(OBJDUMP) -d -S $< > $@ 2>/dev/null
.PHONY: $(addprefix listing-,$(ALL_IMAGES))
$(foreach i,$(ALL_IMAGES),$(eval listing-$(i): $(call image_at,$(i)).lst))

# A boot image with programs from outside of the tree, for scripts/app.mk: APP_WITH are programs that
# it wants; APP_IMAGE.cpio becomes APP_IMAGE.elf, whose image is called APP_NAME. The path may have
# blanks, so it is no target.
.PHONY: app-parts app-image
app-parts: $(B)/lib/libkymo.a $(addprefix $(B)/stripped/,$(APP_WITH)) $(KERNEL_OBJS) $(FBT_OBJS) \
		$(B)/kernel.elf $(addprefix $(B)/qemu.,args link disk)
app-image: $(KERNEL_OBJS) $(FBT_OBJS) $(KERNEL_LD_DEPS) $(B)/kernel.elf
	$(Q)$(CC) $(CPU_FLAGS_KERNEL) -DIMAGE='"$(APP_IMAGE).cpio"' -DIMAGE_NAME='"$(APP_NAME)"' -c \
		-o '$(APP_IMAGE).image.o' scripts/image.S
	$(Q)$(CC) $(CPU_FLAGS_KERNEL) $(KERNEL_LINK) $(KERNEL_LDFLAGS) \
		-o '$(APP_IMAGE).elf' $(KERNEL_OBJS) $(FBT_OBJS) '$(APP_IMAGE).image.o' $(KERNEL_LIBS)
	$(Q)$(FBT_CHECK_$(D)) '$(APP_IMAGE).elf'
	$(Q)scripts/same-layout $(B)/kernel.elf '$(APP_IMAGE).elf'

# How to start the emulator: one argument a line, the program first, `-kernel <image>` to be added.
$(B)/qemu.args: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(QEMU) $(QEMU_FLAGS) | cmp -s - $@ || \
		printf '%s\n' $(QEMU) $(QEMU_FLAGS) > $@

# What puts the link's device behind a chardev of the name "link"; `kymo run --link` adds it.
$(B)/qemu.link: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(QEMU_LINK) | cmp -s - $@ || printf '%s\n' $(QEMU_LINK) > $@

# What puts a drive with the id "disk" on the board; `kymo run --disk` adds it. Empty: it has none.
$(B)/qemu.disk: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(QEMU_DISK) | cmp -s - $@ || printf '%s\n' $(QEMU_DISK) > $@

# The images that are offered by name; `kymo run` reads it.
$(B)/images: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(sort $(IMAGES)) | cmp -s - $@ || printf '%s\n' $(sort $(IMAGES)) > $@

QEMU_FILES := $(B)/qemu.args $(B)/qemu.link $(B)/qemu.disk $(if $(filter build/$(BOARD),$(B)),$(B)/images)
# NO_IMAGE=, NO_KERNEL=: test images that are left out, and those of which only the programs are made.
.PHONY: images
images: $(foreach i,$(IMAGES) $(filter-out $(NO_IMAGE) $(NO_KERNEL),$(TEST_IMAGES)),$(call image_at,$(i)).elf) \
	$(foreach i,$(filter $(NO_KERNEL),$(TEST_IMAGES)),$(call image_at,$(i)).cpio) $(QEMU_FILES)

# For `make soak`: those that a board leaves out of the above, too.
.PHONY: soak-images
soak-images: images $(foreach i,$(TEST_IMAGES_ASKED_FOR),$(call image_at,$(i)).elf)

# For the tests: some images with each other C library that the board supports.
.PHONY: other-libc
other-libc:
	+$(Q):$(foreach l,$(filter-out $(LIBC),$(LIBCS)), && $(MAKE) --no-print-directory -f scripts/board.mk \
		BOARD=$(BOARD) LIBC=$(l) B=$(B)-$(l) image-test image-libtest image-qnx image-log)

# image-IMAGE: one of them, with what starts it; cpio-IMAGE: its programs and start script only.
.PHONY: $(addprefix image-,$(ALL_IMAGES)) $(addprefix cpio-,$(ALL_IMAGES))
$(foreach i,$(ALL_IMAGES),$(eval image-$(i): $(call image_at,$(i)).elf $(QEMU_FILES)))
$(foreach i,$(ALL_IMAGES),$(eval cpio-$(i): $(call image_at,$(i)).cpio))
# medium-IMAGE: with what starts the board itself, if its folder has a mkimage: docs/guide/port.md.
MKIMAGE := $(wildcard $(BOARD_DIR)/mkimage)
MEDIUM_SUFFIX ?= .img
MEDIUM_FILES := $(if $(MKIMAGE),$(MKIMAGE) $(wildcard $(BOARD_DIR)/config.txt))
$(B)/%$(MEDIUM_SUFFIX): $(B)/%.elf $(MEDIUM_FILES) FORCE
	$(call say,MEDIUM)
	$(Q)$(MKIMAGE) $< $@
.PHONY: $(addprefix medium-,$(ALL_IMAGES))
$(foreach i,$(ALL_IMAGES),$(eval medium-$(i): image-$(i) $(if $(MKIMAGE),$(call image_at,$(i))$(MEDIUM_SUFFIX))))
image-%:
	$(error no image $* for $(BOARD); there are: $(sort $(IMAGES)))

# What a debugger's or a loader's user wants: all that is loaded, without addresses, and with them. Only
# where the image lies in a flash, that is, in one piece.
$(B)/%.bin: $(B)/%.elf
	$(call say,BIN)
	$(Q)$(OBJCOPY) -O binary $< $@
$(B)/%.hex: $(B)/%.elf
	$(call say,HEX)
	$(Q)$(OBJCOPY) -O ihex $< $@
# FLASH: a shell command of board.mk, which writes the file $$elf and resets the board.
.PHONY: $(addprefix flash-,$(ALL_IMAGES))
$(foreach i,$(ALL_IMAGES),$(eval flash-$(i): $(addprefix $(call image_at,$(i)),.elf .bin .hex); \
	$$(if $$(FLASH),,$$(error $(BOARD) has no flash: boards/$(BOARD)/README.md))$$(Q)elf=$(call image_at,$(i)).elf; set -x; $$(FLASH)))

# What `make install` installs.
INSTALLED_PROGRAMS := $(sort $(foreach i,$(IMAGES),$($(i)_PROGRAMS)))
.PHONY: installed
installed: $(foreach i,$(IMAGES),$(call image_at,$(i)).elf) $(QEMU_FILES) \
	$(foreach p,$(INSTALLED_PROGRAMS),$(B)/programs/$(p) $(B)/maps/$(p).map)

.PHONY: list-images
list-images:
	@echo $(sort $(IMAGES))
# How the kernel is compiled, a variable a line: test/bench/firing.py.
.PHONY: list-flags
list-flags: ; @$(foreach v,CPU_FLAGS_KERNEL D_COLD_FLAGS D_HOT_FLAGS D_WHOLE D_APART D_HOT_SMALL,echo '$v=$($v)';)
.PHONY: list-programs
list-programs:
	@echo $(INSTALLED_PROGRAMS)

-include $(KERNEL_OBJS:.o=.d) $(D_WHOLE_OBJS:.o=.d) $(KERNEL_CALLED_OBJS:.o=.d) $(USER_OBJS:.o=.d) $(B)/offsets.d $(B)/trace_offsets.d

# SPDX-License-Identifier: BSD-2-Clause
#
# A boot image with programs of your own, from any folder: docs/guide/app.md. Either
#
#   make app DIR=../mine BOARD=mps2-an386        in Kymo's tree; also with run=1, or
#   include $(KYMO)/scripts/app.mk               in a Makefile of yours (KYMO without a blank in it)
#
# Settings, all optional, stand before that include, or in the file app.mk of the folder:
#
#   PROGRAMS     names of the programs                      default: app
#   NAME_SRCS    C and assembler files of the program NAME  default, of a single one: *.c src/*.c
#   NAME_FLAGS, NAME_LDFLAGS, NAME_LIBS   for NAME alone
#   CFLAGS       for all; behind Kymo's own, so yours win   default: -O2 -g
#   WARNINGS     default: -Wall -Wextra; a warning is no error
#   START        the start script                           default: *.start, or each program once
#   WITH         programs of Kymo's beside yours            default: console tracelogger tracestop
#   IMAGE        its file is build/BOARD/IMAGE.elf          default: app
#
# A program of yours replaces one of Kymo's that has the same name. Only `start`, the script's name in
# the image, can't be one. Goals: all, run (SMP=, CAPTURE=), gdb (PROGRAM=), clean, and
# dtrace (SCRIPT=, PROGRAM=, COMMAND=, ICOUNT=1): an image of its own, IMAGE-dtrace.

, := ,
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
# What was set on the command line is for this folder alone.
MAKEOVERRIDES :=
BOARD ?= virt-a64
V ?= 0
Q := $(if $(filter 0,$(V)),@)
-include app.mk

$(if $(KYMO),,$(error KYMO is not set: the folder of Kymo's source tree))
# Kymo's tree by a name without blanks, wherever it is.
K := build/.kymo
$(shell mkdir -p build && ln -sfn "$$(realpath "$(KYMO)")" $(K))
$(if $(wildcard $(K)/boards/$(BOARD)/board.mk),,$(error no board $(BOARD); there are: \
	$(patsubst $(K)/boards/%/board.mk,%,$(wildcard $(K)/boards/*/board.mk))))
KYMO_TREE := $(K)/
include $(K)/boards/$(BOARD)/board.mk
include $(K)/lib/lib.mk
$(if $(PLACE),$(error programs of your own are not linked for their place in the flash of $(BOARD) yet: boards/$(BOARD)/README.md))
include $(K)/scripts/strip.mk

PROGRAMS ?= app
IMAGE ?= app
WARNINGS ?= -Wall -Wextra
CFLAGS ?= -O2 -g
WITH ?= console tracelogger tracestop
START ?= $(firstword $(wildcard *.start))
ifeq ($(words $(PROGRAMS)),1)
$(PROGRAMS)_SRCS ?= $(wildcard *.c src/*.c)
endif
$(foreach p,$(PROGRAMS),$(if $($(p)_SRCS),,$(error no source files: set $(p)_SRCS, or PROGRAMS)))
$(if $(filter start,$(PROGRAMS)),$(error a program can't be called start: the start script is))

O := build/$(BOARD)
# The tree's folder for this board and C library.
variant := $(if $(filter $(firstword $(LIBCS)),$(LIBC)),,-$(LIBC))
KB := build/$(BOARD)$(variant)
theirs := $(filter-out $(PROGRAMS),init $(WITH))
# With D: the link in place of a recording.
d_theirs := $(filter-out $(PROGRAMS),init console linkd)
tree_make = +$(Q)cd $(K) && scripts/locked -q build $(MAKE) -s --no-print-directory $(1)
# A kernel has no C library: a variant takes the kernel's objects from the board's own folder.
board_make = $(call tree_make,-f scripts/board.mk BOARD=$(BOARD) LIBC=$(LIBC) B=$(KB) \
	$(if $(variant),KERNEL_FROM=build/$(BOARD)) $(1))
app_flags := -std=gnu11 -MMD -MP '-ffile-prefix-map=$(CURDIR)=.' $(CPU_FLAGS_USER) \
	-I$(K)/lib/include -I$(K)/abi -idirafter $(K)

.PHONY: all run dtrace gdb clean
all: $(O)/$(IMAGE).elf

# What is Kymo's: its makefiles know when it is up to date.
.PHONY: kymo-parts
kymo-parts:
	$(call tree_make,build/tools/mkcpio build/tools/mkfbt build/tools/mkunwind build/tools/mkreloc trace-gen host)
	$(if $(variant),$(call tree_make,-f scripts/board.mk BOARD=$(BOARD) kernel-objs))
	$(call board_make,app-parts APP_WITH='$(sort $(theirs) $(d_theirs))')

define app_program
$(1)_OBJS := $$(addprefix $(O)/$(1)/,$$(addsuffix .o,$$(basename $$($(1)_SRCS))))
$(O)/$(1)/%.o: %.c $(O)/flags
	@mkdir -p $$(@D)
	$$(Q)$$(CROSS)gcc $$(app_flags) $$(WARNINGS) $$(CFLAGS) $$($(1)_FLAGS) -c -o $$@ $$<
$(O)/$(1)/%.o: %.S $(O)/flags
	@mkdir -p $$(@D)
	$$(Q)$$(CROSS)gcc $$(app_flags) $$($(1)_FLAGS) -c -o $$@ $$<
$(O)/programs/$(1): $$($(1)_OBJS) kymo-parts
	@mkdir -p $$(@D)
	$$(Q)$$(CROSS)gcc $$(CPU_FLAGS_USER) -nostdlib -L$(K) $$(USER_LDFLAGS) $$($(1)_LDFLAGS) \
		-Wl,--build-id,-z,noexecstack -o $$@ $$($(1)_OBJS) -Wl,--start-group \
		$(K)/$(KB)/lib/libkymo.a $$($(1)_LIBS) $$(USER_LIBS) -Wl,--end-group
	@mkdir -p $(O)/stripped
	$$(call strip_program,$$@,$(O)/stripped/$(1))
-include $$($(1)_OBJS:.o=.d)
endef
$(foreach p,$(PROGRAMS),$(eval $(call app_program,$(p))))

# Changed flags build everything anew.
all_flags := $(subst ','\'',$(CROSS) $(app_flags) $(WARNINGS) $(CFLAGS) $(foreach p,$(PROGRAMS),$(p) $($(p)_FLAGS)))
.PHONY: FORCE
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(all_flags)' | cmp -s - $@ || echo '$(all_flags)' > $@

# Without a script of yours: each program once, recorded.
define script_text
[pri=30 ability=device,interrupt] console &
waitname console
[pri=40 ability=trace,interrupt,host] tracelogger -c &
waitname tracelogger
$(foreach p,$(PROGRAMS),[] $(p)
)[pri=35 ability=trace] tracestop
shutdown
endef
script := $(or $(START),$(O)/default.start)
$(O)/default.start: $(O)/flags
	$(file >$@,$(script_text))

# app_image NAME,SCRIPT,THEIRS: the image, with that start script and those programs of Kymo's.
define app_image
$(O)/$(1).elf: $(addprefix $(O)/programs/,$(PROGRAMS)) $(2) kymo-parts
	$$(Q)$(K)/build/tools/mkcpio $(O)/$(1).cpio start=$(2) \
		$(foreach p,$(3),$(p)=$(K)/$(KB)/stripped/$(p)) \
		$(foreach p,$(PROGRAMS),$(p)=$(O)/stripped/$(p))
	$$(call board_make,app-image APP_NAME=$(1) "APP_IMAGE=$$(CURDIR)/$(O)/$(1)")
endef
$(eval $(call app_image,$(IMAGE),$(script),$(theirs)))
$(eval $(call app_image,$(IMAGE)-dtrace,$(O)/dtrace.start,$(d_theirs)))

run: $(O)/$(IMAGE).elf
	$(Q)[ -n '$(CAPTURE)' ] || [ ! -f $(O)/trace.kev ] || mv -f $(O)/trace.kev $(O)/trace.old.kev
	$(Q)$(K)/build/kymo run --board $(BOARD) --image ./$< $(if $(SMP),--smp $(SMP)) \
		--capture $(or $(CAPTURE),$(O)/trace.kev)

# PROGRAM is held until tracing is on. The lines of console and link are those of the image `work`.
PROGRAM ?= $(firstword $(PROGRAMS))
COMMAND ?= [] $(PROGRAM)
d_others := $(filter-out $(PROGRAM),$(PROGRAMS))
.PHONY: $(O)/dtrace.start
$(O)/dtrace.start: $(O)/flags
	$(Q)sed '/linkd &$$/q' '$(K)/apps/images/work$(START_CLASS).start' > $@
	$(if $(d_others),$(Q)printf '[] %s &\n' $(d_others) >> $@)

dtrace: $(O)/$(IMAGE)-dtrace.elf
	$(if $(SCRIPT),,$(error make dtrace SCRIPT=<a D script>: of this folder, or one of `kymo dtrace --list`))
	$(Q)$(K)/build/kymo dtrace -t 'boot:$(BOARD),$(if $(ICOUNT),icount$(,))image=./$<' \
		--elf ./$< -c '$(COMMAND)' -s '$(SCRIPT)'

gdb: $(O)/$(IMAGE).elf
	$(Q)$(K)/scripts/gdb $(BOARD) '$(CURDIR)/$(O)/$(IMAGE).elf' $(PROGRAM)

clean:
	$(Q)rm -rf build

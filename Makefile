# SPDX-License-Identifier: BSD-2-Clause
#
# Kymo's build. `make help` lists what can be made.
#
# This file has the goals for people; scripts/board.mk builds everything that belongs to one board
# (a sub-make per board, each in its own build/<board>/, so `make -j` is safe); host/host.mk and the
# unit.mk files build what runs on this machine. Nothing is written outside build/.

BOARD ?= virt-a64
IMAGE ?= demo
# BOARDS_DIR=<folder of this tree> on the command line: boards that are not in boards/.
BOARDS_DIR := boards
# Those with all suites and figures.
SUITE_BOARDS = $(shell sed -n 's/^boards //p' $(or $(wildcard scripts/suites),/dev/null))
BOARDS := $(patsubst $(BOARDS_DIR)/%/board.mk,%,$(sort $(wildcard $(BOARDS_DIR)/*/board.mk)))
# Boards that have all images, which the variants below and most suites are made of.
WHOLE_BOARDS := $(filter-out $(patsubst $(BOARDS_DIR)/%/board.mk,%,$(shell grep -l '^ONLY_IMAGES' \
	$(BOARDS:%=$(BOARDS_DIR)/%/board.mk))),$(BOARDS))
B := build

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
# `make demo` and `make check` say what they do themselves; V=1 shows the commands.
V ?= 0
Q := $(if $(filter 0,$(V)),@)
export V

# DEBUG=1 (scripts/assert.mk) is for what builds a board; all else boots or measures release images.
DEBUG_GOALS := image boards listing kernel-objs board-%
override DEBUG := $(if $(filter command,$(firstword $(origin DEBUG))),$(DEBUG),0)
ifeq ($(DEBUG),1)
$(if $(filter-out $(DEBUG_GOALS),$(or $(MAKECMDGOALS),all)),$(error DEBUG=1 is for \
	`make image` and `make boards`, which build into $(B)/BOARD-debug/))
endif

# ---- one build at a time -------------------------------------------------------------------------
#
# Two makes that build would write the same files, so one waits for the other. These goals hold no
# lock while they run: they start makes that do.
UNLOCKED := demo quick check check-all run app gdb bench bench-long bench-host soak fuzz help list-unit list-boards
ifneq ($(if $(filter build,$(KYMO_LOCKS)),,$(filter-out $(UNLOCKED),$(or $(MAKECMDGOALS),all))),)

.PHONY: locked-build $(or $(MAKECMDGOALS),all)
$(or $(MAKECMDGOALS),all): locked-build ; @:
locked-build:
	+@scripts/locked -q build $(MAKE) --no-print-directory $(MAKECMDGOALS)

else # to the end of this file

# A board's make writes a folder: build/BOARD/, a variant's B=, or with DEBUG=1 build/BOARD-debug/. Two
# goals of a board would write the same files of it, so with -j one waits for the other.
board_folder = $(or $(patsubst B=$(B)/%,%,$(filter B=%,$(2))),$(1)$(if $(filter 1,$(DEBUG) $(patsubst DEBUG=%,%,$(2))),-debug))
board_make = +$(Q)scripts/locked -q board-$(board_folder) \
	$(MAKE) --no-print-directory -f scripts/board.mk BOARD=$(1) $(2)

##@ Goals
.PHONY: all
all: boards host ## build the images of all boards and build/kymo

.PHONY: demo
demo: ## install what is missing, build, boot virt-a64 and trace a workload
	$(Q)scripts/setup.sh demo
	$(Q)scripts/locked demo scripts/demo

# Each ends with a line that says how many passed and failed. scripts/suites says which suites each has.
.PHONY: quick
quick: ## two minutes: the checks and tests that see what has changed since they passed
	$(Q)scripts/setup.sh check
	$(Q)scripts/check --quick

.PHONY: check
check: ## eight minutes: all that is likely to find a fault; the last line says how many passed and failed
	$(Q)scripts/setup.sh check
	$(Q)scripts/check

.PHONY: check-all
check-all: ## all that finds faults, but for what has passed in this very tree
	$(Q)scripts/setup.sh check
	$(Q)scripts/check --all

.PHONY: run
run: ## boot BOARD=<board> IMAGE=<image> with the console here (^] ends it)
	$(Q)scripts/setup.sh build
	+$(Q)$(MAKE) -s --no-print-directory MEDIUM=no image host
	$(Q)$(B)/kymo run --no-build --board $(BOARD) --image $(IMAGE)

.PHONY: app
app: ## build the programs of the folder DIR=<folder> into a boot image for BOARD; DO=run boots it, DO=dtrace SCRIPT= traces it
	$(if $(DIR),,$(error make app DIR=<folder of your program>: docs/guide/app.md))
	$(Q)scripts/setup.sh build
	+$(Q)if [ -f "$(DIR)/Makefile" ]; then set --; else set -- -f "$(CURDIR)/scripts/app.mk"; fi; \
		exec $(MAKE) --no-print-directory -C "$(DIR)" "$$@" KYMO="$(CURDIR)" BOARD=$(BOARD) $(DO)

.PHONY: gdb
gdb: ## the same, stopped at the first instruction, with gdb attached
	$(Q)scripts/setup.sh gdb
	+$(Q)$(MAKE) -s --no-print-directory MEDIUM=no image host
	$(Q)scripts/locked -n gdb-$(BOARD) scripts/gdb $(BOARD) $(IMAGE) $(PROGRAM)

# Boards whose figures `bench --part` counts, as `make check` does.
PARTS = $(shell sed -n 's/.* bench-.*bench --part //p' scripts/suites)
.PHONY: bench
bench: ## count guest instructions: a table, and build/bench.json; fails if a figure is over its limit
	$(Q)scripts/setup.sh check
	+$(Q)$(MAKE) -s boards host boot-d without-d without-d-pc without-pid without-helpers without-counters $(B)/bench/count.so $(B)/bench/first.so $(B)/bench/share.so $(B)/bench/d_bench
	$(Q)status=0; for part in bench $(PARTS:%="bench --part %") boards sustained; do \
	    scripts/locked check test/bench/$$part || status=1; done; exit $$status

.PHONY: bench-long
bench-long: ## capture 10^7 events of a busy system to a disk: loss, rates, whose the instructions are
	$(Q)scripts/setup.sh check
	+$(Q)$(MAKE) -s boards host $(B)/bench/share.so
	$(Q)scripts/locked check test/bench/sustained --long

.PHONY: bench-host
bench-host: ## print, stat and exports beside babeltrace2: events per second, memory; report's page; SQL over many devices; -c to the first record
	$(Q)scripts/setup.sh bench
	+$(Q)$(MAKE) -s boards host
	$(Q)scripts/locked check test/bench/host_ratio.py
	+$(Q)$(MAKE) -s install-query $(B)/tools/mkcapture
	$(Q)scripts/locked check test/bench/fleet.py
	$(Q)scripts/locked check test/bench/report.py
	$(Q)scripts/locked check test/bench/first_record.py

.PHONY: install-speedscope
install-speedscope: ## fetch speedscope by npm, below build/, for the suite that opens an export in it
	$(Q)scripts/locked -q speedscope scripts/npm-fetch test/host/export/speedscope $(B)/speedscope $@

.PHONY: soak
soak: ## what takes too long for make check: one round, and more for SOAK=<minutes> (default 10)
	$(Q)scripts/setup.sh soak
	$(Q)scripts/check --soak $(or $(SOAK),10)

.PHONY: fuzz
fuzz: ## random inputs for FUZZ=<minutes> (default 10); SEED=<n> repeats a round
	$(Q)scripts/setup.sh fuzz
	$(Q)scripts/locked check test/fuzz/run $(or $(FUZZ),10) $(SEED)

.PHONY: size
size: boards tools without-pid without-helpers without-counters $(addprefix kernel-without-d-,$(BOARDS)) ## sizes of every kernel and program
	$(Q)scripts/sizes $(BOARDS)
	$(Q)scripts/rooms $(BOARDS)
	$(Q)test/bench/d_size.py
	$(Q)test/bench/d_ram.py

.PHONY: libkev
libkev: ## the reader of captures as a library, for C and C++: build/libkev/ (docs/reference/libkev.md)

.PHONY: babeltrace2
babeltrace2: ## babeltrace2's plugin that reads captures: build/babeltrace2/ (docs/guide/python.md)

PREFIX ?= /usr/local
# What the linker used, for the notices: scripts/third-party.
INSTALLED_MAPS := $(B)/kymo.map $(B)/host/perfetto.o.map $(B)/libkev/libkev.so.1.map
.PHONY: install
install: host libkev $(INSTALLED_MAPS) $(addprefix installed-,$(BOARDS)) ## install kymo, libkev and the images for people below PREFIX (/usr/local), with DESTDIR before it
	$(Q)DESTDIR='$(DESTDIR)' scripts/install '$(PREFIX)' $(BOARDS)

.PHONY: dist
dist: ## the sources as build/kymo-VERSION.tar.gz, which builds without git (docs/guide/release.md)
	$(Q)scripts/dist

.PHONY: deb
deb: $(B)/deb/kymo host libkev $(INSTALLED_MAPS) $(addprefix installed-,$(BOARDS)) ## a Debian package of what make install installs, build/kymo_VERSION_ARCH.deb (docs/guide/release.md)
	$(Q)scripts/deb $(DEB:%=-o %) $< $(BOARDS)

.PHONY: install-query
install-query: ## fetch DuckDB by npm, for kymo query and kymo export --parquet (docs/guide/fleet.md)
	$(Q)DESTDIR='$(DESTDIR)' scripts/locked -q query scripts/install-query '$(PREFIX)'

.PHONY: uninstall
uninstall: ## remove what make install has installed there
	$(Q)DESTDIR='$(DESTDIR)' scripts/install -u '$(PREFIX)'

.PHONY: compile_commands.json
compile_commands.json: trace-gen ## write build/compile_commands.json, for clangd (which looks there)
	$(Q)mkdir -p $(B)
	$(Q)scripts/compile-commands $(BOARDS)

.PHONY: docs
docs: host-docs ## write the generated pages (docs/reference/: events, kercalls, dif, providers, derived) and the pictures

.PHONY: format
format: ## run clang-format on every C file
	$(Q)scripts/check-format --fix

.PHONY: clean
clean: ## remove build/
	$(Q)rm -rf $(B)

.PHONY: help
help: ## this list
	@awk -F':.*## ' '/^[a-z].*:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile
	@echo "  make soak has, beside what is a sample in make check:"
	@awk '$$1 == "soak" || $$1 == "once" { $$1 = $$2 = $$3 = $$5 = ""; print "  " $$0 }' scripts/suites
	@awk 'BEGIN { RS = " Suite\\("; printf "    the boots of run.py --soak:" } \
		/soak=True/ { split($$0, part, "\""); printf " " part[2] } \
		END { print "" }' test/board/suites.py | fold -s -w 100
	@echo "  images: $$($(MAKE) -s --no-print-directory -f scripts/board.mk BOARD=$(BOARD) list-images)"
	@echo "  variables: BOARD=$(BOARD) (of: $(BOARDS)), IMAGE=$(IMAGE), SMP=, LIBC=, TRACE_SLOTS=, DEBUG=1, BOOT_D=file.d, IMAGE_D=files.d, V=1"

##@ Boards
# What a board's make takes as given: tools, and the generated hooks (host/host.mk).
BOARD_TOOLS := $(B)/tools/mkcpio $(B)/tools/mkd $(B)/tools/mkfbt \
	$(B)/tools/mkunwind $(B)/tools/mkreloc trace-gen
.PHONY: boards
boards: $(addprefix board-,$(BOARDS))

# Single images, which scripts/check asks for: IMAGES_OF_<folder below build/>="<image> <file below it> ...".
# The kernels with assertions and those with small buffers boot the programs of the release images.
image_goals = $(foreach i,$(2),$(if $(findstring /,$i),$(B)/$(1)/$i,image-$i))
.PHONY: $(foreach b,$(BOARDS),images-of-$b $(addprefix images-of-$b-,debug slots64))
$(addprefix images-of-,$(BOARDS)): images-of-%: $(BOARD_TOOLS) $(B)/kymo
	$(call board_make,$*,$(call image_goals,$*,$(IMAGES_OF_$*)) $(addprefix cpio-,$(IMAGES_OF_$*-debug)))
$(foreach b,$(BOARDS),images-of-$b-debug): images-of-%-debug: images-of-%
	$(call board_make,$*,DEBUG=1 CPIO_FROM=$(B)/$* $(call image_goals,$*-debug,$(IMAGES_OF_$*-debug)))
$(foreach b,$(BOARDS),images-of-$b-slots64): images-of-%-slots64: $(BOARD_TOOLS)
	$(call board_make,$*,TRACE_SLOTS=64 B=$(B)/$*-slots64 $(call image_goals,$*-slots64,$(IMAGES_OF_$*-slots64)))

# CHECKED=1 on the command line, as `make check` has it: without what only `make soak` runs.
left_out = $(if $(filter command,$(origin CHECKED)),$(shell test/board/run.py --left-out $(1)))
.PHONY: $(addprefix board-,$(BOARDS))
$(addprefix board-,$(BOARDS)): board-%: $(BOARD_TOOLS) $(if $(BOOT_D)$(IMAGE_D),$(B)/kymo)
	$(call board_make,$*,$(call left_out,$*) images)

.PHONY: $(addprefix installed-,$(BOARDS))
$(addprefix installed-,$(BOARDS)): installed-%: $(BOARD_TOOLS)
	$(call board_make,$*,installed)

# What `make run` and `make gdb` boot.
.PHONY: image
image: $(BOARD_TOOLS) $(if $(BOOT_D)$(IMAGE_D),$(B)/kymo) ## the image IMAGE of BOARD, into build/BOARD/IMAGE.elf; IMAGE.img for its card, if it has one
	$(if $(filter $(BOARD),$(BOARDS)),,$(error no board $(BOARD); there are: $(BOARDS)))
	$(call board_make,$(BOARD),$(if $(filter no,$(MEDIUM)),image,medium)-$(IMAGE))

.PHONY: flash
flash: $(BOARD_TOOLS) ## write IMAGE of BOARD into a real board's flash, over its debug probe, and start it
	$(Q)scripts/setup.sh flash
	$(call board_make,$(BOARD),flash-$(IMAGE))

.PHONY: listing
listing: image ## disassemble IMAGE of BOARD, with its source, into build/BOARD/IMAGE.lst
	$(call board_make,$(BOARD),listing-$(IMAGE))

# The test images with a board's other C libraries, each in a folder of its own.
.PHONY: other-libc $(addprefix other-libc-,$(WHOLE_BOARDS))
other-libc: $(addprefix other-libc-,$(WHOLE_BOARDS)) ## the test images with a board's other C library: build/BOARD-LIBC/
$(addprefix other-libc-,$(WHOLE_BOARDS)): other-libc-%: board-% # after it: the kernel is from its folder
	$(call board_make,$*,KERNEL_FROM=$(B)/$* other-libc)

# The benchmark's image without D in the kernel: what a message costs without it.
.PHONY: without-d $(addprefix without-d-,$(BOARDS))
without-d: $(addprefix without-d-,$(SUITE_BOARDS))
$(addprefix without-d-,$(BOARDS)): without-d-%: board-% # after it: the programs are from its folder
	$(call board_make,$*,D=0 B=$(B)/$*-without-d CPIO_FROM=$(B)/$* SAME_FROM=$(B)/$* image-bench $(B)/$*-without-d/kernel.elf)

# The same without images: `make size`.
.PHONY: $(addprefix kernel-without-d-,$(BOARDS))
$(addprefix kernel-without-d-,$(BOARDS)): kernel-without-d-%: board-%
	$(call board_make,$*,D=0 B=$(B)/$*-without-d SAME_FROM=$(B)/$* $(B)/$*-without-d/kernel.elf)

# Kernels without the provider pid, helpers and counters: D's size is theirs.
.PHONY: without-pid $(addprefix kernel-without-pid-,$(BOARDS))
without-pid: $(addprefix kernel-without-pid-,$(SUITE_BOARDS))
$(addprefix kernel-without-pid-,$(BOARDS)): kernel-without-pid-%: $(BOARD_TOOLS)
	$(call board_make,$*,USER_PROBES=no HELPERS=no COUNTERS=no B=$(B)/$*-without-pid $(B)/$*-without-pid/kernel.elf)

# Kernels without helpers and counters, and an image in which that is tested.
.PHONY: without-helpers $(addprefix without-helpers-,$(BOARDS))
without-helpers: $(addprefix without-helpers-,$(SUITE_BOARDS))
$(addprefix without-helpers-,$(BOARDS)): without-helpers-%: board-% # after it: the programs are from its folder
	$(call board_make,$*,HELPERS=no COUNTERS=no B=$(B)/$*-without-helpers CPIO_FROM=$(B)/$* image-helper $(B)/$*-without-helpers/kernel.elf)

# Kernels without counters of the CPU, for sizes.
.PHONY: without-counters $(addprefix without-counters-,$(BOARDS))
without-counters: $(addprefix without-counters-,$(SUITE_BOARDS))
$(addprefix without-counters-,$(BOARDS)): without-counters-%: $(BOARD_TOOLS)
	$(call board_make,$*,COUNTERS=no B=$(B)/$*-without-counters $(B)/$*-without-counters/kernel.elf)

# Some test images with the smallest trace buffers that there may be.
.PHONY: small-buffers $(addprefix small-buffers-,$(WHOLE_BOARDS))
small-buffers: $(addprefix small-buffers-,$(WHOLE_BOARDS))
$(addprefix small-buffers-,$(WHOLE_BOARDS)): small-buffers-%: $(BOARD_TOOLS)
	$(call board_make,$*,TRACE_SLOTS=64 B=$(B)/$*-slots64 $(addprefix image-,test events ring d))

# Boards whose kernels have assertions, each in build/BOARD-debug/: the images that test/board/run.py
# boots from there, with the programs of the release images. (make DEBUG=1 image builds any, whole.)
DEBUG_IMAGES = $(shell test/board/run.py --debug-images $(1))
.PHONY: debug debug-soak $(addprefix debug-,$(WHOLE_BOARDS)) $(addprefix debug-soak-,$(WHOLE_BOARDS))
debug: $(addprefix debug-,$(WHOLE_BOARDS)) ## the test images whose kernels check their assertions
debug-soak: $(addprefix debug-soak-,$(WHOLE_BOARDS)) # those of `make soak`, too
$(addprefix debug-,$(WHOLE_BOARDS)): debug-%: board-% # after it: their programs are from its folder
	$(if $(call DEBUG_IMAGES,$*),$(call board_make,$*,DEBUG=1 CPIO_FROM=$(B)/$* $(addprefix image-,$(call DEBUG_IMAGES,$*))))
$(addprefix debug-soak-,$(WHOLE_BOARDS)): debug-soak-%: board-% soak-images
	$(call board_make,$*,DEBUG=1 CPIO_FROM=$(B)/$* $(addprefix image-,$(call DEBUG_IMAGES,$* --soak)))

# All test images of a board that has only some of them for `make check`.
SOAK_BOARDS := $(patsubst $(BOARDS_DIR)/%/board.mk,%,$(shell grep -l '^BOARD_TEST_IMAGES := smoke bench bench_events$$' \
	$(BOARDS:%=$(BOARDS_DIR)/%/board.mk)))
.PHONY: soak-images $(addprefix soak-images-,$(SOAK_BOARDS))
soak-images: $(addprefix soak-images-,$(SOAK_BOARDS))
$(addprefix soak-images-,$(SOAK_BOARDS)): soak-images-%: board-% $(B)/kymo # after it: they share a folder
	$(call board_make,$*,soak-images)

# The images of test/board/dies.py, on a board that has them for `make soak`.
.PHONY: dies-images-pc
dies-images-pc: board-pc # after it: they share a folder
	$(call board_make,pc,image-dies image-goeson image-discard)

# The images that BOOT_D is tested with, and others whose D programs build/kymo compiles.
.PHONY: boot-d $(addprefix boot-d-,$(BOARDS))
boot-d: $(addprefix boot-d-,$(SUITE_BOARDS))
$(addprefix boot-d-,$(BOARDS)): boot-d-%: board-% $(B)/kymo # after it: they share a folder
	$(call board_make,$*,image-bootd image-kept image-gated image-bench_static)

# Any single file of a board, e.g. `make build/virt-a64/kernel/ipc/msg.o`, and every object of a kernel.
.PHONY: kernel-objs
kernel-objs:
	$(call board_make,$(BOARD),kernel-objs)

define board_file
$(B)/$(1)/%: $(BOARD_TOOLS) FORCE
	$$(call board_make,$(1),$$@)
endef
$(foreach b,$(BOARDS),$(eval $(call board_file,$(b))))
.PHONY: FORCE
FORCE:

##@ This machine
include scripts/assert.mk
HOST_CC ?= cc
# Lines for stacks; HOST_DEBUG=-g has variables, too, and takes a third longer to compile.
HOST_DEBUG ?= -g1
# The sanitizers of test programs. Without position independence nothing of ASan's list of variables
# is relocated at each start, and gold links in a third of the time.
HOST_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-pie -no-pie -fuse-ld=gold
HOST_CFLAGS ?= -std=gnu11 -O2 $(HOST_DEBUG) -Wall -Wextra -Werror -I.

MKFBT_SRCS := $(wildcard host/fbt/*.c) host/gen/short_texts.c host/remote/elf_id.c
$(B)/tools/mkfbt: $(MKFBT_SRCS) host/gen/short_texts.h $(wildcard host/fbt/*.h host/fbt/*.def) isa/x86_64/insn.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -D_GNU_SOURCE -o $@ $(MKFBT_SRCS) -lelf

$(B)/tools/mkcpio: trace/dtrace/reasons.def
$(B)/tools/%: scripts/%.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -o $@ $<

$(B)/tools/%: test/tool/programs/%.c $(wildcard abi/*.h isa/*/*.h) trace/slot.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -o $@ $<

MKUNWIND_SRCS := $(wildcard host/unwind/*.c) host/fbt/elf.c host/fbt/text.c host/fbt/thumb.c host/fbt/a64.c host/fbt/x86.c
$(B)/tools/mkunwind: $(MKUNWIND_SRCS) $(wildcard host/fbt/*.h host/unwind/*.h) abi/unwind.h isa/x86_64/insn.h \
		abi/functions.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -o $@ $(MKUNWIND_SRCS) -lelf

MKRELOC_SRCS := $(wildcard host/reloc/*.c)
$(B)/tools/mkreloc: $(MKRELOC_SRCS) host/reloc/table.h abi/reloc.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -o $@ $(MKRELOC_SRCS) -lelf

# The counting plugin: QEMU resolves the plugin functions when it loads it.
$(B)/bench/%.so: test/bench/%.c test/bench/plugin.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -shared -fPIC -o $@ $<

.PHONY: tools
tools: $(patsubst scripts/%.c,$(B)/tools/%,$(wildcard scripts/*.c)) \
       $(patsubst test/tool/programs/%.c,$(B)/tools/%,$(wildcard test/tool/programs/*.c))

# Each of these adds its own goals: host/host.mk `host` and `host-docs`, the unit.mk files one
# executable each to UNIT_TESTS, which scripts/check runs.
-include host/host.mk
# Those of a folder come before those of the folders in it.
-include $(wildcard $(foreach in,. * */* */*/* */*/*/*,test/$(in)/unit.mk))

.PHONY: unit
unit: $(UNIT_TESTS)
.PHONY: list-unit
list-unit:
	@echo $(UNIT_TESTS)
.PHONY: host host-docs
.PHONY: list-boards
list-boards: # that run all suites
	@echo $(WHOLE_BOARDS)

endif # one build at a time

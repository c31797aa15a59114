# SPDX-License-Identifier: BSD-2-Clause
# trace/ alone, without kernel/: `make -f test/trace/alone/alone.mk` builds, for each CPU and compiler,
# log.elf, a program that records with the log and no optional part, one file of it in C++, log.o, that log alone, and all.o, the
# log with all of them; on Cortex-M0 with D's machine, too. test/trace/alone/check asks what they lack.
B := build/trace-alone
include trace/trace.mk
ALONE_TARGETS := m0-gcc m0-clang m4-gcc m4-clang m33-gcc m33-clang
ALONE_D := m0-gcc m0-clang

ALONE_CPU_m0 := -mcpu=cortex-m0 -mfloat-abi=soft
ALONE_CPU_m4 := -mcpu=cortex-m4 -mfloat-abi=soft
ALONE_CPU_m33 := -mcpu=cortex-m33 -mfloat-abi=soft
ALONE_TRIPLE_m0 := armv6m-none-eabi
ALONE_TRIPLE_m4 := armv7em-none-eabi
ALONE_TRIPLE_m33 := thumbv8m.main-none-eabi
# Where the emulator's board has ROM and RAM: microbit, mps2-an386, mps2-an505.
ALONE_PLACES_m0 := ROM=0,RAM=0x20000000
ALONE_PLACES_m4 := ROM=0,RAM=0x20000000
ALONE_PLACES_m33 := ROM=0x10000000,RAM=0x38000000
ALONE_PORT_m0 := -DTRACE_PORT_OPS_H='"trace/port/armv6m.h"' -DTRACE_ATOMIC_OPS_H='"trace/port/atomic_armv6m.h"' \
	-DTRACE_PORT_SYSTEM_H='"test/trace/alone/system_m0.h"'
ALONE_PORT_m4 := -DTRACE_PORT_OPS_H='"trace/port/armv7m.h"' -DTRACE_ATOMIC_OPS_H='"trace/port/atomic_armv7m.h"' \
	-DTRACE_PORT_SYSTEM_H='"test/trace/alone/system.h"' \
	'-DTRACE_CLOCK_REG=(&alone_ticks)' -DTRACE_CLOCK_INVERT=0
ALONE_PORT_m33 := $(ALONE_PORT_m4)
ALONE_SITES_m0 := test/trace/alone/sites_loaded.c
ALONE_SITES_m4 := test/trace/alone/sites_patched.c
ALONE_SITES_m33 := test/trace/alone/sites_patched.c

# The buffers fit a chip with 16 KB of RAM. clang takes the C library's headers from gcc's folder.
ALONE_FLAGS := -Wall -Wextra -Werror -O1 -mthumb -ffreestanding -ffunction-sections -fdata-sections -I. \
	-DTRACE_BUFFER_SLOTS=64 -DDTRACE_PORT_OPS_H='"test/bench/d_size_ops.h"' -MMD -MP
ALONE_CC_gcc = arm-none-eabi-gcc -std=gnu11
ALONE_CC_clang = clang-14 -std=gnu11 --target=$(ALONE_TRIPLE_$(1)) -fshort-enums -isystem $(ALONE_INCLUDE)
ALONE_CXX_gcc = arm-none-eabi-g++ -std=c++17 -fno-exceptions -fno-rtti
ALONE_CXX_clang = clang-14 -x c++ -std=c++17 -fno-exceptions -fno-rtti --target=$(ALONE_TRIPLE_$(1)) -fshort-enums -isystem $(ALONE_INCLUDE)
# What only assertions use is not needed without them.
ALONE_FLAGS_clang := -Wno-unneeded-internal-declaration
ALONE_INCLUDE := $(shell echo | arm-none-eabi-gcc -E -v - 2>&1 | sed -n 's,^ \(/.*/arm-none-eabi/include\)$$,\1,p')

ALONE_ALL_SRCS := $(call trace_srcs,$(filter-out dtrace,$(TRACE_PARTS)))
ALONE_LOG_SRCS := $(call trace_srcs,)
ALONE_WITH_D_SRCS := $(call trace_srcs,$(TRACE_PARTS)) $(filter-out trace/dtrace/subr_none.c trace/dtrace/helper%.c,$(sort $(wildcard trace/dtrace/*.c trace/dtrace/provider/*.c)))
ALONE_PROGRAM := $(addprefix test/trace/alone/,main.c port.c start.c)

# The headers that docs/guide/elsewhere.md promises to compile as C++17. Those of trace/port/ and
# trace/assert_*.h are included through the settings that choose them.
ALONE_HEADERS := $(filter-out trace/assert_o%,$(sort $(wildcard abi/*.h abi/sys/*.h isa/*/*.h trace/*.h trace/dtrace/*.h trace/dtrace/*/*.h \
	$(foreach l,blocklog capture link linkd panic retain,lib/$(l)/*.h))))

all: $(foreach t,$(ALONE_TARGETS),$(B)/$(t)/log.elf $(B)/$(t)/log.o $(B)/$(t)/all.o)
all: $(foreach t,$(filter m4-%,$(ALONE_TARGETS)),$(ALONE_HEADERS:%=$(B)/$(t)/cxx/%.ok)) $(B)/a64/headers.ok $(B)/host/headers.ok

$(B)/headers.h: test/trace/alone/alone.mk $(ALONE_HEADERS)
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(ALONE_HEADERS) > $@

# All headers for the ports that no program here is linked for: $(1) is one of them.
ALONE_CXX_a64 := --target=aarch64-none-elf -isystem $(ALONE_INCLUDE) -DTRACE_PORT_OPS_H='"trace/port/aarch64.h"' \
	-DTRACE_PORT_SYSTEM_H='"test/trace/alone/system_a64.h"'
ALONE_CXX_host := -DTRACE_PORT_OPS_H='"trace/port/host.h"'
$(B)/a64/headers.ok $(B)/host/headers.ok: $(B)/%/headers.ok: $(B)/headers.h
	@mkdir -p $(@D)
	@clang-14 -x c++ -std=c++17 $(filter-out -mthumb,$(ALONE_FLAGS)) $(ALONE_CXX_$*) -fsyntax-only -MF $@.d -MT $@ test/trace/alone/embedder.cpp
	@touch $@

# $(1): the target, $(2): its CPU, $(3): its compiler
define ALONE_RULES
$(B)/$(1)/%.o: %.c test/trace/alone/alone.mk trace/trace.mk
	@mkdir -p $$(@D)
	@$$(call ALONE_CC_$(3),$(2)) $$(ALONE_FLAGS) $$(ALONE_FLAGS_$(3)) $$(ALONE_CPU_$(2)) $$(ALONE_PORT_$(2)) -c -o $$@ $$<
$(B)/$(1)/%.o: %.cpp $(B)/headers.h
	@mkdir -p $$(@D)
	@$$(call ALONE_CXX_$(3),$(2)) $$(ALONE_FLAGS) $$(ALONE_FLAGS_$(3)) $$(ALONE_CPU_$(2)) $$(ALONE_PORT_$(2)) -c -o $$@ $$<
# A header alone.
$(B)/$(1)/cxx/%.h.ok: %.h test/trace/alone/alone.mk
	@mkdir -p $$(@D)
	@echo '#include "$$<"' | $$(call ALONE_CXX_$(3),$(2)) $$(ALONE_FLAGS) $$(ALONE_FLAGS_$(3)) $$(ALONE_CPU_$(2)) $$(ALONE_PORT_$(2)) \
		-x c++ -fsyntax-only -MF $$@.d -MT $$@ -
	@touch $$@
$(B)/$(1)/log.o: $(ALONE_LOG_SRCS:%.c=$(B)/$(1)/%.o)
	@arm-none-eabi-ld -r -o $$@ $$^
$(B)/$(1)/all.o: $(patsubst %.c,$(B)/$(1)/%.o,$(if $(filter $(1),$(ALONE_D)),$(ALONE_WITH_D_SRCS),$(ALONE_ALL_SRCS)))
	@arm-none-eabi-ld -r -o $$@ $$^
$(B)/$(1)/log.elf: $(ALONE_LOG_SRCS:%.c=$(B)/$(1)/%.o) $(ALONE_PROGRAM:%.c=$(B)/$(1)/%.o) \
		$(B)/$(1)/test/trace/alone/embedder.o \
		$$(ALONE_SITES_$(2):%.c=$(B)/$(1)/%.o) | test/trace/alone/alone.ld
	@arm-none-eabi-gcc -mthumb $$(ALONE_CPU_$(2)) -nostartfiles -static -Wl,--gc-sections,--build-id=none,-z,noexecstack \
		-Wl,-T,test/trace/alone/alone.ld $$(foreach p,$$(ALONE_PLACES_$(2)),-Wl,--defsym=$$(subst $$(ALONE_COMMA),$$(ALONE_COMMA)--defsym=,$$(p))) \
		-Wl,--defsym=RAM_BYTES=16384 -o $$@ $$^
-include $$(wildcard $(ALONE_HEADERS:%=$(B)/$(1)/cxx/%.ok.d) $(B)/$(1)/trace/*.d $(B)/$(1)/trace/*/*.d $(B)/$(1)/trace/*/*/*.d $(B)/$(1)/test/*/*/*.d)
endef
-include $(wildcard $(B)/a64/headers.ok.d $(B)/host/headers.ok.d)
ALONE_COMMA := ,
$(foreach t,$(ALONE_TARGETS),$(eval $(call ALONE_RULES,$(t),$(word 1,$(subst -, ,$(t))),$(word 2,$(subst -, ,$(t))))))
.PHONY: all

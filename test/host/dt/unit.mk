# SPDX-License-Identifier: BSD-2-Clause
# The D compiler's front end under ASan and UBSan: declarations, types, constants, macros, pragmas,
# options, libraries, ELFs, and the tag and place of each of their errors.

D_FRONT_NAMES := $(patsubst test/host/dt/%_test.c,%,$(sort $(wildcard test/host/dt/*_test.c)))
D_FRONT_TESTS := $(D_FRONT_NAMES:%=$(B)/unit/d_front_%)
UNIT_TESTS += $(D_FRONT_TESTS)
D_FRONT_FLAGS := $(HOST_CFLAGS) -O1 -I$(HOST_D_GEN) $(HOST_SANITIZE)
# The compiler's objects are those of build/kymo-asan.
D_FRONT_OBJS := $(patsubst %.c,$(B)/host-asan/%.o,$(HOST_D_SRCS) trace/dtrace/glob.c trace/dtrace/helper_check.c \
	trace/dtrace/provider/rate.c host/temporary.c host/nearest.c) $(B)/unit/d_front/test/host/dt/front.o

$(B)/unit/d_front/%.o: %.c | $(HOST_D_GEN)/dt_grammar.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(D_FRONT_FLAGS) -MMD -MP -c -o $@ $<

$(D_FRONT_TESTS): $(B)/unit/d_front_%: $(B)/unit/d_front/test/host/dt/%_test.o $(D_FRONT_OBJS)
	$(Q)$(HOST_CC) $(D_FRONT_FLAGS) -o $@ $^ -lcmocka -ldw -lelf

# The sample ELFs whose DWARF elf_test.c and layouts_test.c read, one a CPU.
D_FRONT_SAMPLES := $(B)/unit/d_front/samples
D_FRONT_SAMPLE_SRCS := test/host/dt/elf/sample.c test/host/dt/elf/sample_more.c
D_FRONT_CPUS := x86_64 aarch64 arm
D_FRONT_SAMPLE_FLAGS := -g -O1 -fno-pie -ffreestanding -nostdlib -Wl,-e,main -Wl,--build-id=none

$(D_FRONT_SAMPLES)/%x86_64.elf: D_FRONT_SAMPLE_CC := $(HOST_CC) -no-pie
$(D_FRONT_SAMPLES)/%aarch64.elf: D_FRONT_SAMPLE_CC := aarch64-linux-gnu-gcc -no-pie
$(D_FRONT_SAMPLES)/%arm.elf: D_FRONT_SAMPLE_CC := arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb
$(D_FRONT_SAMPLES)/sample-%.elf: $(D_FRONT_SAMPLE_SRCS)
	@mkdir -p $(@D)
	$(Q)$(D_FRONT_SAMPLE_CC) $(D_FRONT_SAMPLE_FLAGS) -o $@ $^
$(D_FRONT_SAMPLES)/layouts-%.elf: test/host/dt/elf/layouts.c
	@mkdir -p $(@D)
	$(Q)$(D_FRONT_SAMPLE_CC) $(D_FRONT_SAMPLE_FLAGS) -o $@ $^

$(patsubst %,$(B)/unit/d_front/test/host/dt/%_test.o,elf helper layouts): \
	D_FRONT_FLAGS += -DSAMPLES='"$(D_FRONT_SAMPLES)"'
$(B)/unit/d_front_elf $(B)/unit/d_front_helper: | $(D_FRONT_CPUS:%=$(D_FRONT_SAMPLES)/sample-%.elf)
$(B)/unit/d_front_layouts: | $(D_FRONT_CPUS:%=$(D_FRONT_SAMPLES)/layouts-%.elf)

-include $(B)/unit/d_front/test/host/dt/front.d $(D_FRONT_NAMES:%=$(B)/unit/d_front/test/host/dt/%_test.d)

# SPDX-License-Identifier: BSD-2-Clause
# trace/ on this machine: a port whose CPUs, clock and interrupts are the test's (fake_port.c), with
# a 64-bit trace clock (build/unit/trace_*) and with a 32-bit one (build/unit/trace32_*); the latter
# also with buffers of 64 and 256 slots instead of 1024 (build/unit/slots64_*, slots256_*).

UNIT_TRACE_SRCS := $(wildcard trace/*.c) test/trace/fake_port.c test/trace/look.c test/tool/failed.c
UNIT_TRACE_NAMES := assert ring interleave log batch overrun clock rows calls numbers filter user class control \
	owner first gate threads interrupt commands random retain seals areas giving names ended
UNIT_TRACE32_NAMES := log batch clock random
# 256 lie between the least and the most: `make soak` has them.
UNIT_SLOTS := 64 $(if $(filter command,$(origin CHECKED)),,256)
UNIT_SLOTS_NAMES := ring log overrun clock first random rows user retain seals areas giving names toggle ended
UNIT_TRACE := $(UNIT_TRACE_NAMES:%=$(B)/unit/trace_%) $(UNIT_TRACE32_NAMES:%=$(B)/unit/trace32_%) \
	$(foreach n,$(UNIT_SLOTS),$(UNIT_SLOTS_NAMES:%=$(B)/unit/slots$(n)_%))
UNIT_TESTS += $(UNIT_TRACE)
UNIT_TRACE_FLAGS := $(HOST_CFLAGS) $(ASSERT_FLAGS_1) -Og -include test/trace/yield.h \
	-DTRACE_PORT_OPS_H='"trace/port/host.h"' -fno-omit-frame-pointer \
	$(HOST_SANITIZE)
UNIT_TRACE_OBJS := $(UNIT_TRACE_SRCS:%.c=$(B)/unit/trace.o/%.o)
UNIT_TRACE32_OBJS := $(UNIT_TRACE_SRCS:%.c=$(B)/unit/trace32.o/%.o)

$(B)/unit/trace.o/%.o: %.c test/trace/unit.mk | $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(UNIT_TRACE_FLAGS) -MMD -MP -c -o $@ $<

$(B)/unit/trace32.o/%.o: %.c test/trace/unit.mk | $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(UNIT_TRACE_FLAGS) -DTRACE_PORT_CLOCK_BITS=32 -MMD -MP -c -o $@ $<

$(B)/unit/trace_%: $(B)/unit/trace.o/test/trace/%_test.o $(UNIT_TRACE_OBJS)
	$(Q)$(HOST_CC) $(UNIT_TRACE_FLAGS) -o $@ $^ -lcmocka

$(B)/unit/trace32_%: $(B)/unit/trace32.o/test/trace/%_test.o $(UNIT_TRACE32_OBJS)
	$(Q)$(HOST_CC) $(UNIT_TRACE_FLAGS) -o $@ $^ -lcmocka

# Those that read what was recorded with the host's reader.
UNIT_READER_OBJS := $(patsubst %.c,$(B)/host-asan/%.o,$(HOST_READER_SRCS) host/temporary.c)
$(B)/unit/trace_rows $(B)/unit/trace_calls: $(UNIT_READER_OBJS) $(B)/unit/trace.o/test/trace/capture.o

UNIT_RANDOM := random_events random_model
$(B)/unit/trace_random: $(UNIT_RANDOM:%=$(B)/unit/trace.o/test/trace/%.o)
$(B)/unit/trace32_random: $(UNIT_RANDOM:%=$(B)/unit/trace32.o/test/trace/%.o)

UNIT_RETAIN_OBJS := $(patsubst %.c,$(B)/unit/trace.o/%.o,$(sort $(wildcard lib/retain/*.c)) \
	lib/link/crc32c.c test/trace/retained.c)
$(B)/unit/trace_retain $(B)/unit/trace_seals $(B)/unit/trace_areas $(B)/unit/trace_giving $(B)/unit/trace_names: $(UNIT_RETAIN_OBJS)

define UNIT_SLOTS_RULES
$$(B)/unit/slots$(1).o/%.o: %.c test/trace/unit.mk | $$(TRACE_GEN)
	@mkdir -p $$(@D)
	$$(Q)$$(HOST_CC) $$(UNIT_TRACE_FLAGS) -DTRACE_PORT_CLOCK_BITS=32 -DTRACE_BUFFER_SLOTS=$(1) \
		-MMD -MP -c -o $$@ $$<

$$(B)/unit/slots$(1)_%: $$(B)/unit/slots$(1).o/test/trace/%_test.o $$(UNIT_TRACE_SRCS:%.c=$$(B)/unit/slots$(1).o/%.o)
	$$(Q)$$(HOST_CC) $$(UNIT_TRACE_FLAGS) -o $$@ $$^ -lcmocka

$$(B)/unit/slots$(1)_random: $$(UNIT_RANDOM:%=$$(B)/unit/slots$(1).o/test/trace/%.o)
$$(B)/unit/slots$(1)_rows: $$(UNIT_READER_OBJS) $$(B)/unit/slots$(1).o/test/trace/capture.o
$$(B)/unit/slots$(1)_retain $$(B)/unit/slots$(1)_seals $$(B)/unit/slots$(1)_areas $$(B)/unit/slots$(1)_giving $$(B)/unit/slots$(1)_names $$(B)/unit/slots$(1)_toggle: $$(UNIT_RETAIN_OBJS:$$(B)/unit/trace.o/%=$$(B)/unit/slots$(1).o/%)
$$(B)/unit/slots$(1)_toggle: $$(B)/unit/slots$(1).o/lib/panic/text.o
.SECONDARY: $$(UNIT_TRACE_SRCS:%.c=$$(B)/unit/slots$(1).o/%.o) $$(B)/unit/slots$(1).o/test/trace/capture.o \
	$$(UNIT_RETAIN_OBJS:$$(B)/unit/trace.o/%=$$(B)/unit/slots$(1).o/%) \
	$$(UNIT_SLOTS_NAMES:%=$$(B)/unit/slots$(1).o/test/trace/%_test.o)
-include $$(wildcard $$(B)/unit/slots$(1).o/trace/*.d $$(B)/unit/slots$(1).o/lib/*/*.d \
	$$(B)/unit/slots$(1).o/test/trace/*.d)
endef
$(foreach n,$(UNIT_SLOTS),$(eval $(call UNIT_SLOTS_RULES,$(n))))

.SECONDARY: $(UNIT_RETAIN_OBJS) $(UNIT_TRACE_OBJS) $(UNIT_TRACE32_OBJS) \
	$(UNIT_TRACE_NAMES:%=$(B)/unit/trace.o/test/trace/%_test.o) \
	$(UNIT_TRACE32_NAMES:%=$(B)/unit/trace32.o/test/trace/%_test.o)
-include $(wildcard $(B)/unit/trace*.o/trace/*.d $(B)/unit/trace*.o/lib/*/*.d $(B)/unit/trace*.o/test/trace/*.d)

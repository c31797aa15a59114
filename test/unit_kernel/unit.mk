# SPDX-License-Identifier: BSD-2-Clause
# Parts of the kernel on this machine, with a CPU port that is none (fake_ops.h, fake.c).

UNIT_KERNEL := $(addprefix $(B)/unit/kernel_,assert_test quota_test readers_test memory_test phys_test trie_test order_test order_list_test table_test table_grown_test name_test object_test loader_test sched_test sched_one_test \
	stack_test string_test claim_test retained_test retained_large_test unwind_test divide_test count_test dwt_test)
UNIT_TESTS += $(UNIT_KERNEL)
UNIT_KERNEL_FLAGS := $(HOST_CFLAGS) $(ASSERT_FLAGS_1) -O1 -DKYMO_KERNEL -DCONFIG_CPUS=4 \
	-DARCH_OPS_H='"test/unit_kernel/fake_ops.h"' \
	-DTRACE_PORT_OPS_H='"test/unit_kernel/fake_trace.h"' \
	-fsanitize=address,undefined -fno-sanitize-recover=all

UNIT_KERNEL_FAKE := test/unit_kernel/fake.c kernel/base/quota.c
unit_kernel = test/unit_kernel/$(1)_test.c $(foreach f,$(2),$(wildcard kernel/*/$(f)))
$(B)/unit/kernel_assert_test: $(call unit_kernel,assert,pool.c phys.c ram.c vm.c vm_lookup.c object.c copy.c cpu.c sched.c) kernel/thread/ready/each.c \
	$(UNIT_KERNEL_FAKE)
$(B)/unit/kernel_quota_test: $(call unit_kernel,quota,quota.c)
$(B)/unit/kernel_readers_test: $(call unit_kernel,readers,cpio.c elf.c)
$(B)/unit/kernel_memory_test: $(call unit_kernel,memory,pool.c phys.c ram.c vm.c vm_lookup.c object.c copy.c cpu.c) \
	$(UNIT_KERNEL_FAKE)
# Enough for a list that grows three times.
$(B)/unit/kernel_memory_test: UNIT_KERNEL_FLAGS += -DCONFIG_MAPPINGS=1000
# Steps are counted: these call __sanitizer_cov_trace_pc() at each basic block. Without assertions,
# as in the kernel that ships.
counted = $(foreach f,$(1),$(B)/unit/$(basename $(notdir $(f)))_counted.o)
$(call counted,tree.c): kernel/base/order/tree.c
$(call counted,trie.c): kernel/base/trie.c
$(call counted,name.c): kernel/ipc/name.c
$(call counted,phys.c): kernel/mem/phys.c
$(call counted,phys.c tree.c trie.c name.c): $(wildcard kernel/*/*.h kernel/base/order/*.h test/unit_kernel/*.h) | $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(filter-out $(ASSERT_FLAGS_1) -fsanitize% -fno-sanitize% -O1,$(UNIT_KERNEL_FLAGS)) -O2 \
		-fsanitize-coverage=trace-pc -c -o $@ $(filter %.c,$^)
$(B)/unit/kernel_phys_test: $(call unit_kernel,phys,cpu.c) $(UNIT_KERNEL_FAKE) $(call counted,phys.c)
$(B)/unit/kernel_trie_test: $(call unit_kernel,trie,cpu.c) $(UNIT_KERNEL_FAKE) $(call counted,trie.c)
$(B)/unit/kernel_order_test: $(call unit_kernel,order,cpu.c) $(UNIT_KERNEL_FAKE) $(call counted,tree.c trie.c)
$(B)/unit/kernel_order_test: UNIT_KERNEL_FLAGS += -DKERNEL_ORDER_H='"kernel/base/order/tree.h"'
$(B)/unit/kernel_table_test: test/unit_kernel/table_test.c kernel/base/table/ram.c
$(B)/unit/kernel_table_test: UNIT_KERNEL_FLAGS += -DKERNEL_TABLE_H='"kernel/base/table/ram.h"' -DCONFIG_PROCESSES=64 \
	-DCONFIG_THREADS=512 -DCONFIG_TIMERS=480
$(B)/unit/kernel_table_grown_test: test/unit_kernel/table_grown_test.c kernel/base/table/grown.c kernel/base/pool.c \
	test/unit_kernel/kymo_string.c
$(B)/unit/kernel_table_grown_test: UNIT_KERNEL_FLAGS += -DKERNEL_TABLE_H='"kernel/base/table/grown.h"'
$(B)/unit/kernel_order_list_test: $(call unit_kernel,order,cpu.c) $(UNIT_KERNEL_FAKE)
$(B)/unit/kernel_name_test: $(call unit_kernel,name,cpu.c) $(UNIT_KERNEL_FAKE) $(call counted,name.c trie.c)
# As many names as a large board has.
$(B)/unit/name_counted.o $(B)/unit/kernel_name_test: UNIT_KERNEL_FLAGS += -DCONFIG_NAMES=1024
$(B)/unit/kernel_object_test: $(call unit_kernel,object,object.c mem_calls.c ram.c vm.c vm_lookup.c phys.c \
	copy.c cpu.c) $(UNIT_KERNEL_FAKE)
$(B)/unit/kernel_loader_test: $(call unit_kernel,loader,spawn_layout.c spawn_load.c spawn_reloc.c \
	elf.c ram.c vm.c vm_lookup.c object.c copy.c cpu.c) host/reloc/table.c $(UNIT_KERNEL_FAKE)
$(B)/unit/kernel_sched_test: $(call unit_kernel,sched,sched.c cpu.c) kernel/thread/ready/each.c \
	$(UNIT_KERNEL_FAKE)
$(B)/unit/kernel_sched_one_test: $(call unit_kernel,sched,sched.c cpu.c) kernel/thread/ready/one.c \
	$(UNIT_KERNEL_FAKE)
$(B)/unit/kernel_sched_one_test: UNIT_KERNEL_FLAGS += -DKERNEL_READY_H='"kernel/thread/ready/one.h"'
$(B)/unit/kernel_retained_test: $(call unit_kernel,retained,retain_names.c cpu.c) trace/crc32c.c \
	$(UNIT_KERNEL_FAKE)
$(B)/unit/kernel_retained_large_test: $(call unit_kernel,retained,retain_names.c cpu.c) trace/crc32c.c \
	$(UNIT_KERNEL_FAKE)
$(B)/unit/kernel_retained_large_test: UNIT_KERNEL_FLAGS += -DCONFIG_PROCESSES=200 -DCONFIG_THREADS=400
$(B)/unit/kernel_claim_test: $(call unit_kernel,claim,retain.c cpu.c) trace/crc32c.c $(UNIT_KERNEL_FAKE)
$(B)/unit/kernel_claim_test: UNIT_KERNEL_FLAGS += -DCONFIG_RETAIN_BASE=0x40000000u -DCONFIG_RETAIN_BYTES=0x80000u
# D's counters: the fake port and the kernel around are the tests' own.
$(B)/unit/kernel_count_test: test/unit_kernel/count_test.c test/unit_kernel/count_around.c $(wildcard kernel/dtrace/count/facts.c kernel/dtrace/count/total.c kernel/dtrace/count/fire.c)
$(B)/unit/kernel_count_test: UNIT_KERNEL_FLAGS += -DDTRACE_PORT_OPS_H='"kernel/dtrace/port_ops.h"' \
	-DKERNEL_COUNTERS_H='"kernel/dtrace/count/count.h"' -DKERNEL_COUNTS_H='"kernel/thread/counts/kept.h"'
# Those of a Cortex-M4, over registers that are the test's own.
$(B)/unit/kernel_dwt_test: test/unit_kernel/dwt_test.c test/unit_kernel/count_around.c $(wildcard kernel/dtrace/count/facts.c kernel/dtrace/count/total.c) \
	kernel/arch/armv7m/count/count.c
$(B)/unit/kernel_dwt_test: UNIT_KERNEL_FLAGS += -UCONFIG_CPUS -DCONFIG_CPUS=1 -include test/unit_kernel/fake_dwt.h \
	-DDTRACE_PORT_OPS_H='"kernel/dtrace/port_ops.h"' \
	-DKERNEL_COUNTERS_H='"kernel/dtrace/count/variables.h"' -DKERNEL_COUNTS_H='"kernel/thread/counts/kept.h"'
$(B)/unit/kernel_divide_test: test/unit_kernel/divide_test.c kernel/arch/armv7m/probe/divide.c
$(B)/unit/kernel_unwind_test: $(call unit_kernel,unwind,unwind.c) host/unwind/pack.c
$(B)/unit/kernel_stack_test: $(call unit_kernel,stack,stack.c cpu.c) $(UNIT_KERNEL_FAKE)
$(B)/unit/kernel_string_test: $(call unit_kernel,string,) test/unit_kernel/kymo_string.c

$(UNIT_KERNEL) $(B)/unit/kernel_crosscall_test: test/failed.c
$(UNIT_KERNEL): test/failed.h $(wildcard test/unit_kernel/*.h kernel/*/*.h kernel/base/*/*.h kernel/thread/ready/*.h trace/*.h) $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(UNIT_KERNEL_FLAGS) -o $@ $(filter %.c %.o,$^) -lcmocka

# CPUs that are threads, under a race detector.
UNIT_TESTS += $(B)/unit/kernel_crosscall_test
UNIT_THREADS_FLAGS := $(subst fake_ops.h,thread_ops.h,$(filter-out -fsanitize=% -fno-sanitize%,$(UNIT_KERNEL_FLAGS))) \
	-D_GNU_SOURCE -fsanitize=thread
$(B)/unit/kernel_crosscall_test: test/unit_kernel/crosscall_test.c kernel/base/cpu.c trace/dtrace/buffer.c \
	$(wildcard test/unit_kernel/*.h kernel/*/*.h trace/*.h trace/dtrace/*.h) $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(UNIT_THREADS_FLAGS) -o $@ $(filter %.c,$^) -lcmocka -lpthread

# SPDX-License-Identifier: BSD-2-Clause
# Parts of the kernel on this machine, with a CPU port that is none (fake_ops.h, fake.c). The tests
# are in the folders of what they test, each a program build/unit/kernel_NAME.

UNIT_KERNEL_FLAGS := $(HOST_CFLAGS) $(ASSERT_FLAGS_1) -O1 -DKYMO_KERNEL -DCONFIG_CPUS=4 \
	-DARCH_OPS_H='"test/kernel/fake/fake_ops.h"' \
	-DTRACE_PORT_OPS_H='"test/kernel/fake/fake_trace.h"' \
	$(HOST_SANITIZE)

# $(1): a program's name; $(2): its sources; $(3): flags of its own, which take objects of its own
define UNIT_KERNEL_PROGRAM
UNIT_KERNEL += $(B)/unit/kernel_$(1)
UNIT_KERNEL_OBJS += $(patsubst %.c,$(B)/unit/kernel/$(if $(3),$(1),usual)/%.o,$(2))
$(B)/unit/kernel_$(1): $(patsubst %.c,$(B)/unit/kernel/$(if $(3),$(1),usual)/%.o,$(2))
$(if $(3),UNIT_KERNEL_OWN_$(1) := $(3))
endef
unit_kernel = $(eval $(call UNIT_KERNEL_PROGRAM,$(1),test/kernel/$(2) $(3) test/tool/failed.c,$(4)))

UNIT_KERNEL_FAKE := test/kernel/fake/fake.c kernel/base/quota.c kernel/base/cpu.c
UNIT_KERNEL_VM := $(addprefix kernel/mem/,ram.c vm.c vm_lookup.c object.c copy.c)
$(call unit_kernel,assert_test,base/assert_test.c,kernel/base/pool.c kernel/mem/phys.c $(UNIT_KERNEL_VM) \
	kernel/thread/sched.c kernel/thread/ready/each.c $(UNIT_KERNEL_FAKE))
$(call unit_kernel,quota_test,base/quota_test.c,kernel/base/quota.c)
$(call unit_kernel,readers_test,program/readers_test.c,kernel/program/cpio.c kernel/program/elf.c)
# Enough for a list that grows three times.
$(call unit_kernel,memory_test,mem/memory_test.c,kernel/base/pool.c kernel/mem/phys.c $(UNIT_KERNEL_VM) \
	$(UNIT_KERNEL_FAKE),-DCONFIG_MAPPINGS=1000)
$(call unit_kernel,phys_test,mem/phys_test.c,$(UNIT_KERNEL_FAKE))
$(call unit_kernel,trie_test,base/trie_test.c,$(UNIT_KERNEL_FAKE))
$(call unit_kernel,order_test,base/order_test.c,$(UNIT_KERNEL_FAKE),-DKERNEL_ORDER_H='"kernel/base/order/tree.h"')
$(call unit_kernel,order_list_test,base/order_test.c,$(UNIT_KERNEL_FAKE))
$(call unit_kernel,table_test,base/table/table_test.c,kernel/base/table/ram.c,\
	-DKERNEL_TABLE_H='"kernel/base/table/ram.h"' -DCONFIG_PROCESSES=64 -DCONFIG_THREADS=512 -DCONFIG_TIMERS=480)
$(call unit_kernel,table_grown_test,base/table/table_grown_test.c,kernel/base/table/grown.c kernel/base/pool.c kernel/base/quota.c \
	test/kernel/base/kymo_string.c,-DKERNEL_TABLE_H='"kernel/base/table/grown.h"')
# As many names as a large board has.
$(call unit_kernel,name_test,ipc/name_test.c,$(UNIT_KERNEL_FAKE),-DCONFIG_NAMES=1024)
$(call unit_kernel,object_test,mem/object_test.c,kernel/mem/mem_calls.c kernel/mem/phys.c $(UNIT_KERNEL_VM) $(UNIT_KERNEL_FAKE))
$(call unit_kernel,loader_test,program/loader_test.c,$(addprefix kernel/program/,spawn_layout.c spawn_load.c \
	spawn_reloc.c elf.c) $(UNIT_KERNEL_VM) host/reloc/table.c $(UNIT_KERNEL_FAKE))
$(call unit_kernel,sched_test,thread/sched_test.c,kernel/thread/sched.c kernel/thread/ready/each.c $(UNIT_KERNEL_FAKE))
$(call unit_kernel,sched_one_test,thread/sched_test.c,kernel/thread/sched.c kernel/thread/ready/one.c \
	$(UNIT_KERNEL_FAKE),-DKERNEL_READY_H='"kernel/thread/ready/one.h"')
$(call unit_kernel,retained_test,observe/retained_test.c,kernel/observe/retain_names.c trace/crc32c.c $(UNIT_KERNEL_FAKE))
$(call unit_kernel,retained_large_test,observe/retained_test.c,kernel/observe/retain_names.c trace/crc32c.c \
	$(UNIT_KERNEL_FAKE),-DCONFIG_PROCESSES=200 -DCONFIG_THREADS=400)
$(call unit_kernel,claim_test,observe/claim_test.c,kernel/observe/retain.c kernel/observe/retain_judge.c trace/crc32c.c $(UNIT_KERNEL_FAKE),\
	-DCONFIG_RETAIN_BASE=0x40000000u -DCONFIG_RETAIN_BYTES=0x80000u)
# D's counters: the fake port and the kernel around are the tests' own.
UNIT_KERNEL_COUNT := test/kernel/dtrace/count/count_around.c kernel/dtrace/count/facts.c kernel/dtrace/count/total.c
$(call unit_kernel,count_test,dtrace/count/count_test.c,$(UNIT_KERNEL_COUNT) kernel/dtrace/count/fire.c,\
	-DDTRACE_PORT_OPS_H='"kernel/dtrace/port_ops.h"' \
	-DKERNEL_COUNTERS_H='"kernel/dtrace/count/count.h"' -DKERNEL_COUNTS_H='"kernel/thread/counts/kept.h"')
# Those of a Cortex-M4, over registers that are the test's own.
$(call unit_kernel,dwt_test,arch/armv7m/dwt_test.c,$(UNIT_KERNEL_COUNT) kernel/arch/armv7m/count/count.c,\
	-UCONFIG_CPUS -DCONFIG_CPUS=1 -include test/kernel/arch/armv7m/fake_dwt.h \
	-DDTRACE_PORT_OPS_H='"kernel/dtrace/port_ops.h"' \
	-DKERNEL_COUNTERS_H='"kernel/dtrace/count/variables.h"' -DKERNEL_COUNTS_H='"kernel/thread/counts/kept.h"')
# Page tables of every CPU with an MMU, with entries that are the test's own.
$(call unit_kernel,pages_test,arch/mmu/pages_test.c,kernel/arch/mmu/pages.c,\
	-DARCH_PAGES_H='"test/kernel/arch/mmu/fake_pages.h"')
$(call unit_kernel,divide_test,arch/armv7m/divide_test.c,kernel/arch/armv7m/probe/divide.c)
$(call unit_kernel,unwind_test,observe/unwind_test.c,kernel/observe/unwind.c host/unwind/pack.c)
$(call unit_kernel,stack_test,observe/stack_test.c,kernel/observe/stack.c $(UNIT_KERNEL_FAKE))
$(call unit_kernel,string_test,base/string_test.c,test/kernel/base/kymo_string.c)
UNIT_TESTS += $(UNIT_KERNEL)

define UNIT_KERNEL_FOLDER
$(B)/unit/kernel/$(1)/%.o: %.c test/kernel/fake/unit.mk | $(TRACE_GEN)
	@mkdir -p $$(@D)
	$$(Q)$$(HOST_CC) $$(UNIT_KERNEL_FLAGS) $$(UNIT_KERNEL_OWN_$(1)) -MMD -MP -c -o $$@ $$<
endef
$(foreach p,usual $(patsubst $(B)/unit/kernel_%,%,$(UNIT_KERNEL)),$(eval $(call UNIT_KERNEL_FOLDER,$(p))))

# Steps are counted: these call __sanitizer_cov_trace_pc() at each basic block. Without assertions,
# as in the kernel that ships.
counted = $(patsubst %.c,$(B)/unit/kernel/counted/%.o,$(1))
$(B)/unit/kernel/counted/%.o: %.c test/kernel/fake/unit.mk | $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(filter-out $(ASSERT_FLAGS_1) $(HOST_SANITIZE) -O1,$(UNIT_KERNEL_FLAGS)) -O2 \
		$(UNIT_KERNEL_COUNTED) -fsanitize-coverage=trace-pc -MMD -MP -c -o $@ $<
$(B)/unit/kernel_phys_test: $(call counted,kernel/mem/phys.c)
$(B)/unit/kernel_trie_test: $(call counted,kernel/base/trie.c)
$(B)/unit/kernel_order_test: $(call counted,kernel/base/order/tree.c kernel/base/trie.c)
$(B)/unit/kernel_name_test: $(call counted,kernel/ipc/name.c kernel/base/trie.c)
$(call counted,kernel/ipc/name.c): UNIT_KERNEL_COUNTED := -DCONFIG_NAMES=1024

$(UNIT_KERNEL):
	$(Q)$(HOST_CC) $(UNIT_KERNEL_FLAGS) -o $@ $^ -lcmocka

# CPUs that are threads, under a race detector.
UNIT_TESTS += $(B)/unit/kernel_crosscall_test
UNIT_THREADS_FLAGS := $(subst fake_ops.h,thread_ops.h,$(filter-out $(HOST_SANITIZE),$(UNIT_KERNEL_FLAGS))) \
	-D_GNU_SOURCE -fsanitize=thread
UNIT_CROSSCALL_OBJS := $(patsubst %.c,$(B)/unit/kernel/crosscall_test/%.o,test/kernel/base/crosscall_test.c kernel/base/cpu.c \
	trace/dtrace/buffer.c test/tool/failed.c)
$(UNIT_CROSSCALL_OBJS): $(B)/unit/kernel/crosscall_test/%.o: %.c test/kernel/fake/unit.mk | $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(UNIT_THREADS_FLAGS) -MMD -MP -c -o $@ $<
$(B)/unit/kernel_crosscall_test: $(UNIT_CROSSCALL_OBJS)
	$(Q)$(HOST_CC) $(UNIT_THREADS_FLAGS) -o $@ $^ -lcmocka -lpthread

-include $(patsubst %.o,%.d,$(sort $(UNIT_KERNEL_OBJS)) $(UNIT_CROSSCALL_OBJS) \
	$(call counted,$(addprefix kernel/,mem/phys.c base/trie.c base/order/tree.c ipc/name.c)))

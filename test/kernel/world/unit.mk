# SPDX-License-Identifier: BSD-2-Clause
# Messages, pulses, synchronisation, timers and interrupts: the real kernel on this machine, with a
# CPU port that is none. Small tables, so that they are full often; small pieces of long messages.
# The tests are in the folders of what they test, each a program build/unit/ipc_NAME.

UNIT_IPC_TESTS := $(addprefix test/kernel/,random_test.c errno_test.c intr/intr_test.c mem/kept_test.c \
	observe/debug/check_test.c proc/end_test.c $(addsuffix _test.c,\
	$(addprefix entry/,console crash direct window) \
	$(addprefix ipc/,msg copy copy_change pulse notice channel_end) \
	$(addprefix sync/,mutex sync sync_steps) $(addprefix thread/,call_lock hold long_call thread) \
	$(addprefix time/,clock heap timer)))
unit_ipc = $(addprefix $(B)/unit/ipc_,$(basename $(notdir $(1))))
UNIT_IPC := $(call unit_ipc,$(UNIT_IPC_TESTS))
UNIT_TESTS += $(UNIT_IPC)
UNIT_IPC_FLAGS := $(HOST_CFLAGS) $(ASSERT_FLAGS_1) -Og -DKYMO_KERNEL -DARCH_OPS_H='"test/kernel/world/fake_ops.h"' \
	-DKERNEL_ORDER_H='"kernel/base/order/tree.h"' -DTRACE_PORT_OPS_H='"test/kernel/world/fake_trace.h"' -DCONFIG_CPUS=4 -DCONFIG_PROCESSES=6 \
	-DCONFIG_THREADS=26 -DCONFIG_THREADS_PER_PROCESS=6 -DCONFIG_CHANNELS=8 \
	-DCONFIG_CHANNELS_PER_PROCESS=3 -DCONFIG_CONNECTIONS=20 -DCONFIG_CONNECTIONS_PER_PROCESS=5 \
	-DCONFIG_RESERVE_PERCENT=0 -DCONFIG_QUOTA_PERCENT=100 -DCONFIG_PULSES=12 -DCONFIG_TIMERS=6 -DCONFIG_INTERRUPT_ATTACHMENTS=4 -DCONFIG_MAPPINGS=6 \
	-DCONFIG_COPY_CHUNK=256 -DCONFIG_IRQ_LINES=32 -DCONFIG_SYNC_AT_ONCE=1 -DCONFIG_FORGET_AT_ONCE=4 \
	$(HOST_SANITIZE) -fno-omit-frame-pointer
UNIT_IPC_KERNEL := kernel/base/trie.c kernel/base/order/tree.c kernel/thread/ready/each.c $(filter-out %/pool.c,$(foreach f,channel.c clock.c \
	connect.c connect_info.c console.c copy.c cpu.c event.c exit.c gone.c intr.c kercall.c msg.c \
	msg_copy.c msg_direct.c msg_entry.c msg_listened.c msg_rw.c msg_wait.c msg_wide.c object.c phys.c process.c process_account.c \
	call_lock.c long_call.c process_calls.c pulse.c quota.c ram.c reply_entry.c sched.c sched_calls.c signal.c sync.c \
	sync_cond.c sync_mutex.c sync_sem.c thread.c thread_calls.c thread_ctl.c thread_end.c thread_hold.c \
	timeout.c timeout_direct.c timer.c timer_calls.c trace_quick.c vm.c vm_lookup.c wait_kinds.c,$(wildcard kernel/*/$(f) kernel/entry/registers/$(f))))
UNIT_IPC_SRCS := $(UNIT_IPC_KERNEL) $(wildcard kernel/observe/debug/check*.c) \
	$(addprefix test/kernel/world/,fake.c world.c check.c)
# Stand-ins, where a program has not the files themselves.
UNIT_IPC_STANDINS := $(addprefix test/kernel/world/,fake_map.c no_programs.c)
# What only some programs are linked with.
UNIT_IPC_PARTS := $(addprefix test/kernel/,$(addprefix world/,no_crash.c stepwise.c random_args.c random_calls.c) \
	$(addprefix entry/,two_ways.c window_acts.c) ipc/long_message.c sync/sync_world.c)
unit_ipc_objs = $(patsubst %.c,$(B)/unit/ipc/%.o,$(1))
UNIT_IPC_OBJS := $(call unit_ipc_objs,$(UNIT_IPC_SRCS))
UNIT_IPC_CRASH := kernel/entry/crash.c kernel/program/elf.c

$(B)/unit/ipc/%.o: %.c test/kernel/world/unit.mk | $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(UNIT_IPC_FLAGS) -MMD -MP -c -o $@ $<

$(foreach t,$(UNIT_IPC_TESTS),$(eval $(call unit_ipc,$(t)): $(call unit_ipc_objs,$(t))))
$(UNIT_IPC): $(UNIT_IPC_OBJS) $(call unit_ipc_objs,$(UNIT_IPC_STANDINS))
	$(Q)$(HOST_CC) $(UNIT_IPC_FLAGS) -o $@ $^ -lcmocka

# The kernel's crash reports are part of one test; the others have none.
$(filter-out %/ipc_crash_test,$(UNIT_IPC)): $(call unit_ipc_objs,test/kernel/world/no_crash.c)
$(B)/unit/ipc_crash_test: $(call unit_ipc_objs,$(UNIT_IPC_CRASH))

$(B)/unit/ipc_copy_test $(B)/unit/ipc_copy_change_test: $(call unit_ipc_objs,test/kernel/ipc/long_message.c)
$(B)/unit/ipc_end_test $(B)/unit/ipc_channel_end_test $(B)/unit/ipc_sync_steps_test: $(call unit_ipc_objs,test/kernel/world/stepwise.c)
$(B)/unit/ipc_mutex_test $(B)/unit/ipc_sync_test: $(call unit_ipc_objs,test/kernel/sync/sync_world.c)
$(B)/unit/ipc_direct_test $(B)/unit/ipc_window_test: $(call unit_ipc_objs,test/kernel/entry/two_ways.c)
$(B)/unit/ipc_window_test: $(call unit_ipc_objs,test/kernel/entry/window_acts.c)
UNIT_IPC_RANDOM := $(addprefix test/kernel/world/random_,calls.c args.c)
$(B)/unit/ipc_random_test $(B)/unit/ipc_direct_test: $(call unit_ipc_objs,$(UNIT_IPC_RANDOM))

# With tables that grow: the random test once more, and what happens without memory for an entry.
UNIT_TESTS += $(B)/unit/ipc_grown_test $(B)/unit/ipc_short_test
unit_grown_objs = $(patsubst %.c,$(B)/unit/ipc_grown/%.o,$(1))
UNIT_GROWN_SRCS := $(UNIT_IPC_SRCS) kernel/base/table/grown.c test/kernel/world/no_crash.c
UNIT_GROWN_TESTS := test/kernel/random_test.c test/kernel/base/table/short_test.c test/kernel/refused_test.c
$(B)/unit/ipc_grown/%.o: %.c test/kernel/world/unit.mk | $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(UNIT_IPC_FLAGS) -DKERNEL_TABLE_H='"kernel/base/table/grown.h"' -MMD -MP -c -o $@ $<
$(B)/unit/ipc_grown_test: $(call unit_grown_objs,test/kernel/random_test.c $(UNIT_IPC_RANDOM))
$(B)/unit/ipc_short_test: $(call unit_grown_objs,test/kernel/base/table/short_test.c)
$(B)/unit/ipc_grown_test $(B)/unit/ipc_short_test: $(call unit_grown_objs,$(UNIT_GROWN_SRCS) $(UNIT_IPC_STANDINS))
	$(Q)$(HOST_CC) $(UNIT_IPC_FLAGS) -o $@ $^ -lcmocka

# Each allocation of each call fails: with the calls that make programs, names and mappings.
UNIT_TESTS += $(B)/unit/ipc_refused_test
UNIT_REFUSED_SRCS := test/kernel/world/stepwise.c $(addprefix kernel/,ipc/name.c mem/mem_calls.c \
	$(addprefix program/,spawn.c spawn_layout.c spawn_load.c spawn_reloc.c elf.c))
UNIT_REFUSED_WRAP := $(addprefix -Xlinker --wrap=,phys_alloc phys_alloc_raw quota_charge quota_has \
	quota_group_new arch_aspace_map arch_aspace_create)
$(B)/unit/ipc_refused_test: $(call unit_grown_objs,test/kernel/refused_test.c $(UNIT_GROWN_SRCS) $(UNIT_REFUSED_SRCS))
	$(Q)$(HOST_CC) $(UNIT_IPC_FLAGS) $(UNIT_REFUSED_WRAP) -o $@ $^ -lcmocka

-include $(patsubst %.o,%.d,$(call unit_ipc_objs,$(UNIT_IPC_SRCS) $(UNIT_IPC_STANDINS) $(UNIT_IPC_PARTS) $(UNIT_IPC_CRASH) $(UNIT_IPC_TESTS)) \
	$(call unit_grown_objs,$(UNIT_GROWN_SRCS) $(UNIT_IPC_STANDINS) $(UNIT_REFUSED_SRCS) $(UNIT_IPC_RANDOM) $(UNIT_GROWN_TESTS)))

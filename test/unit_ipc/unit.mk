# SPDX-License-Identifier: BSD-2-Clause
# Messages, pulses, synchronisation, timers and interrupts: the real kernel on this machine, with a
# CPU port that is none. Small tables, so that they are full often; small pieces of long messages.

UNIT_IPC := $(addprefix $(B)/unit/ipc_,msg_test copy_test copy_change_test pulse_test notice_test mutex_test sync_test clock_test heap_test timer_test \
	intr_test thread_test hold_test end_test channel_end_test sync_steps_test long_call_test call_lock_test console_test crash_test errno_test kept_test random_test direct_test window_test check_test)
UNIT_TESTS += $(UNIT_IPC)
UNIT_IPC_FLAGS := $(HOST_CFLAGS) $(ASSERT_FLAGS_1) -O1 -DKYMO_KERNEL -DARCH_OPS_H='"test/unit_ipc/fake_ops.h"' \
	-DKERNEL_ORDER_H='"kernel/base/order/tree.h"' -DTRACE_PORT_OPS_H='"test/unit_ipc/fake_trace.h"' -DCONFIG_CPUS=4 -DCONFIG_PROCESSES=6 \
	-DCONFIG_THREADS=26 -DCONFIG_THREADS_PER_PROCESS=6 -DCONFIG_CHANNELS=8 \
	-DCONFIG_CHANNELS_PER_PROCESS=3 -DCONFIG_CONNECTIONS=20 -DCONFIG_CONNECTIONS_PER_PROCESS=5 \
	-DCONFIG_RESERVE_PERCENT=0 -DCONFIG_QUOTA_PERCENT=100 -DCONFIG_PULSES=12 -DCONFIG_TIMERS=6 -DCONFIG_INTERRUPT_ATTACHMENTS=4 -DCONFIG_MAPPINGS=6 \
	-DCONFIG_COPY_CHUNK=256 -DCONFIG_IRQ_LINES=32 -DCONFIG_SYNC_AT_ONCE=1 -DCONFIG_FORGET_AT_ONCE=4 \
	-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
UNIT_IPC_KERNEL := kernel/base/trie.c kernel/base/order/tree.c kernel/thread/ready/each.c $(filter-out %/pool.c,$(foreach f,channel.c clock.c \
	connect.c connect_info.c console.c copy.c cpu.c event.c exit.c gone.c intr.c kercall.c msg.c \
	msg_copy.c msg_direct.c msg_entry.c msg_listened.c msg_rw.c msg_wait.c msg_wide.c object.c phys.c process.c process_account.c \
	call_lock.c long_call.c process_calls.c pulse.c quota.c ram.c reply_entry.c sched.c sched_calls.c signal.c sync.c \
	sync_cond.c sync_mutex.c sync_sem.c thread.c thread_calls.c thread_ctl.c thread_end.c thread_hold.c \
	timeout.c timeout_direct.c timer.c timer_calls.c trace_quick.c vm.c vm_lookup.c wait_kinds.c,$(wildcard kernel/*/$(f) kernel/entry/registers/$(f))))
UNIT_IPC_OBJS := $(patsubst %.c,$(B)/unit/ipc/%.o,$(UNIT_IPC_KERNEL) $(wildcard kernel/observe/debug/check*.c) test/unit_ipc/fake.c test/unit_ipc/fake_map.c \
	$(addprefix test/unit_ipc/,world.c check.c))

$(B)/unit/ipc/%.o: %.c $(wildcard test/unit_ipc/*.[hd]* kernel/*/*.h kernel/base/order/*.h kernel/thread/ready/*.h kernel/observe/debug/*.h abi/*.* abi/sys/*.h \
	trace/*.h) trace/events.def $(TRACE_GEN) test/unit_ipc/unit.mk
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(UNIT_IPC_FLAGS) -c -o $@ $<

$(UNIT_IPC): $(B)/unit/ipc_%: $(B)/unit/ipc/test/unit_ipc/%.o $(UNIT_IPC_OBJS)
	$(Q)$(HOST_CC) $(UNIT_IPC_FLAGS) -o $@ $^ -lcmocka

# The kernel's crash reports are part of one test; the others have none.
$(filter-out %/ipc_crash_test,$(UNIT_IPC)): $(B)/unit/ipc/test/unit_ipc/no_crash.o
$(B)/unit/ipc_crash_test: $(addprefix $(B)/unit/ipc/kernel/,entry/crash.o program/elf.o)

$(B)/unit/ipc_copy_test $(B)/unit/ipc_copy_change_test: $(B)/unit/ipc/test/unit_ipc/long_message.o
$(B)/unit/ipc_end_test $(B)/unit/ipc_channel_end_test $(B)/unit/ipc_sync_steps_test: $(B)/unit/ipc/test/unit_ipc/stepwise.o
$(B)/unit/ipc_mutex_test $(B)/unit/ipc_sync_test: $(B)/unit/ipc/test/unit_ipc/sync_world.o
$(B)/unit/ipc_direct_test $(B)/unit/ipc_window_test: $(B)/unit/ipc/test/unit_ipc/two_ways.o
$(B)/unit/ipc_window_test: $(B)/unit/ipc/test/unit_ipc/window_acts.o
$(B)/unit/ipc_random_test $(B)/unit/ipc_direct_test: $(addprefix $(B)/unit/ipc/test/unit_ipc/random_,calls.o args.o)

# With tables that grow: the random test once more, and what happens without memory for an entry.
UNIT_TESTS += $(B)/unit/ipc_grown_test $(B)/unit/ipc_short_test
UNIT_GROWN_OBJS := $(UNIT_IPC_OBJS:$(B)/unit/ipc/%=$(B)/unit/ipc_grown/%) \
	$(addprefix $(B)/unit/ipc_grown/,kernel/base/table/grown.o test/unit_ipc/no_crash.o)
$(B)/unit/ipc_grown/%.o: %.c $(wildcard test/unit_ipc/*.[hd]* kernel/*/*.h kernel/base/*/*.h kernel/thread/ready/*.h kernel/observe/debug/*.h abi/*.* abi/sys/*.h \
	trace/*.h) trace/events.def $(TRACE_GEN) test/unit_ipc/unit.mk
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(UNIT_IPC_FLAGS) -DKERNEL_TABLE_H='"kernel/base/table/grown.h"' -c -o $@ $<
$(B)/unit/ipc_grown_test: $(UNIT_GROWN_OBJS) \
	$(addprefix $(B)/unit/ipc_grown/test/unit_ipc/random_,test.o calls.o args.o)
$(B)/unit/ipc_short_test: $(UNIT_GROWN_OBJS) $(B)/unit/ipc_grown/test/unit_ipc/short_test.o
$(B)/unit/ipc_grown_test $(B)/unit/ipc_short_test:
	$(Q)$(HOST_CC) $(UNIT_IPC_FLAGS) -o $@ $^ -lcmocka

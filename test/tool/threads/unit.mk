# SPDX-License-Identifier: BSD-2-Clause
# CPUs that are threads of this machine, under a race detector: what QEMU on an x86 host can't show,
# because that host keeps stores in order. A weaker memory order or a lock left out is a reported race.

UNIT_THREADS := $(addprefix $(B)/unit/threads_,ring dynvar speculate vm mutex lock)
UNIT_TESTS += $(UNIT_THREADS)
THREADS_FLAGS := $(HOST_CFLAGS) $(ASSERT_FLAGS_1) -O1 -D_GNU_SOURCE -include test/tool/threads/yield.h \
	-fsanitize=thread --param=tsan-distinguish-volatile=1
THREADS_SEAM := -DTRACE_PORT_OPS_H='"trace/port/host.h"' \
	-DDTRACE_PORT_OPS_H='"test/tool/threads/d_ops.h"'
THREADS_COMMA := ,
THREADS_WRAP := $(addprefix -Wl$(THREADS_COMMA)--wrap=__tsan_atomic,32_load 32_store 64_load 64_store \
	32_compare_exchange_strong)

$(B)/unit/threads_ring: test/trace/ring_threads_test.c test/tool/threads/volatile.c trace/ring.c
$(B)/unit/threads_dynvar: test/trace/dtrace/dynvar_threads_test.c test/tool/threads/crosscall.c test/tool/threads/volatile.c trace/dtrace/dynvar.c
$(B)/unit/threads_speculate: test/trace/dtrace/speculate_threads_test.c test/tool/threads/crosscall.c test/tool/threads/volatile.c \
	test/tool/threads/atomic_yield.c trace/dtrace/speculate.c trace/dtrace/buffer.c
$(B)/unit/threads_vm: test/kernel/mem/vm_threads_test.c test/tool/threads/cpus.c test/tool/threads/volatile.c \
	test/tool/threads/atomic_yield.c kernel/mem/vm.c kernel/mem/vm_lookup.c kernel/base/quota.c kernel/base/cpu.c
$(B)/unit/threads_mutex: test/kernel/sync/mutex_threads_test.c test/tool/threads/cpus.c test/tool/threads/volatile.c \
	test/tool/threads/atomic_yield.c kernel/sync/sync_mutex.c kernel/sync/sync.c kernel/base/cpu.c $(B)/unit/threads_lib_mutex.o
$(B)/unit/threads_lock: test/kernel/base/lock_threads_test.c test/tool/threads/cpus.c test/tool/threads/volatile.c \
	test/tool/threads/atomic_yield.c kernel/base/cpu.c
$(addprefix $(B)/unit/threads_,speculate vm mutex lock): THREADS_LINK := $(THREADS_WRAP)
$(addprefix $(B)/unit/threads_,vm mutex lock): THREADS_SEAM := -DKYMO_KERNEL -DCONFIG_CPUS=4 \
	-DARCH_OPS_H='"test/kernel/fake/thread_ops.h"' \
	-DTRACE_PORT_OPS_H='"test/kernel/fake/fake_trace.h"'

$(B)/unit/threads_vm: THREADS_SEAM += -DCONFIG_MAPPINGS_FIRST=2
$(B)/unit/threads_mutex: THREADS_SEAM += -DKYMO_SELF_H='"lib/libc/self_call.h"'

# Its types and names are those of this machine's library: the one's are kept out, the others changed.
$(B)/unit/threads_lib_mutex.o: lib/mutex.c $(wildcard lib/*.h lib/include/*.h lib/include/sys/*.h)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(THREADS_FLAGS) -D_BITS_PTHREADTYPES_COMMON_H=1 -Ilib/include \
		-DSYSTEM_PROBE_H='"lib/system_probe/loaded.h"' -DKYMO_SELF_H='"lib/libc/self_call.h"' \
		$(foreach f,init destroy lock trylock timedlock unlock,-Dpthread_mutex_$(f)=lib_mutex_$(f)) \
		-c -o $@ $<

$(UNIT_THREADS): test/tool/failed.c test/tool/failed.h $(wildcard test/tool/threads/*.h trace/*.h trace/dtrace/*.h trace/port/host.h kernel/*/*.h \
	test/kernel/fake/*.h) $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(THREADS_FLAGS) $(THREADS_SEAM) -o $@ $(filter %.c %.o,$^) $(THREADS_LINK) -lcmocka -lpthread
# So that a thread that does not run is not passed over.
$(B)/unit/threads_lock: THREADS_SEAM += -DCONFIG_LOCK_PATIENCE=0xffffffffu

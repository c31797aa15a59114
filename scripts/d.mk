# SPDX-License-Identifier: BSD-2-Clause
# How the D engine's files are compiled, which are the largest part of a kernel: for speed what each
# probe firing passes, for size the rest. Included by scripts/board.mk.

# What of D makes a probe firing fast, as test/bench counts it; the rest is compiled with the board's
# D_COLD_FLAGS.
D_HOT := $(addprefix trace/dtrace/,builtin dynvar fire run variable) $(addprefix kernel/dtrace/,fbt_fire syscall user/fire) \
	kernel/arch/armv7m/step/step
D_COLD := $(filter-out $(D_HOT) %/probe/calls,$(basename $(D_SRCS_1) trace/dtrace/site/sites.c))
$(D_COLD:%=$(B)/%.o): EXTRA_FLAGS = $(KERNEL_FLAGS) $(D_COLD_FLAGS)
$(D_APART:%=$(B)/%.o): EXTRA_FLAGS = $(KERNEL_FLAGS) $(D_APART_FLAGS)
# D_WHOLE=yes: the cold files, but D_APART, are compiled once more, as one file, in which only what other
# objects need has a name outside. What is called once is inlined then, whichever file it is in, and
# nothing is passed as the ABI says that needs not be.
D_WHOLE ?=
ifeq ($(D)$(D_WHOLE),1yes)
D_WHOLE_SRCS := $(filter $(filter-out $(D_APART:%=%.c),$(D_COLD:%=%.c)),$(KERNEL_SRCS))
D_WHOLE_OBJS := $(D_WHOLE_SRCS:%.c=$(or $(KERNEL_FROM),$(B))/%.o)
D_OTHER_OBJS := $(filter-out $(D_WHOLE_OBJS),$(KERNEL_OBJS))
KERNEL_OBJS := $(D_OTHER_OBJS) $(or $(KERNEL_FROM),$(B))/trace/dtrace/whole.o
$(B)/trace/dtrace/whole.c: $(D_WHOLE_OBJS) $(D_OTHER_OBJS)
	$(Q){ echo '/* Made by scripts/d.mk. */'; printf '#include "%s"\n' $(D_WHOLE_SRCS); \
		{ $(NM) -g $(D_WHOLE_OBJS) | sed -n 's/^[0-9a-f]* [A-TV-Z] /defined /p'; \
		$(NM) -u $(D_OTHER_OBJS) | sed -n 's/^ *U /needed /p'; } | sort -u | \
		awk '$$1 == "defined" { defined[$$2] = 1 } $$1 == "needed" && defined[$$2] { \
			print "extern __typeof__(" $$2 ") " $$2 " __attribute__((externally_visible));" }'; } > $@
$(B)/trace/dtrace/whole.o: $(B)/trace/dtrace/whole.c
	$(call say,CC)
	$(Q)$(CC) $(KERNEL_FLAGS) $(D_COLD_FLAGS) -fwhole-program -c -o $@ $<
endif
$(D_HOT:%=$(B)/%.o): EXTRA_FLAGS = $(KERNEL_FLAGS) $(D_HOT_FLAGS)
# Those of them that are as fast when they are compiled for size, with the fast path inlined.
$(D_HOT_SMALL:%=$(B)/%.o): EXTRA_FLAGS = $(KERNEL_FLAGS) $(D_HOT_SMALL_FLAGS)
# Files whose functions have pads, room for branches of function probes (docs/inside/fbt.md): enough
# for the functions that are linked near them, too, and no more. test/host/fbt/places.py fails where
# they become too few.
FBT_PADDED := $(addprefix kernel/,$(addprefix arch/$(ARCH)/,context core fault mpu patch/ram start) \
	base/trie entry/crash entry/host_call entry/kercall_quick entry/kercall_trace ipc/event ipc/msg_wait \
	ipc/name mem/copy observe/panic observe/sites/patched observe/syspage proc/process program/cpio \
	program/spawn_reloc thread/ready/each thread/sched thread/thread time/clock time/timer_calls)
$(FBT_PADDED:%=$(B)/%.o): EXTRA_FLAGS += $(FBT_PAD_FLAGS)

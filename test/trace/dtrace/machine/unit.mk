# SPDX-License-Identifier: BSD-2-Clause
# The D machine's core on this machine, under ASan and UBSan, on a port that is none (fake.c).

D_MACHINE_TESTS := $(addprefix $(B)/unit/d_machine_,$(patsubst test/trace/dtrace/machine/%_test.c,%,$(sort \
	$(wildcard test/trace/dtrace/machine/*_test.c))))
UNIT_TESTS += $(D_MACHINE_TESTS)
D_MACHINE_FLAGS := $(HOST_CFLAGS) $(ASSERT_FLAGS_1) -O1 -DDTRACE_PORT_OPS_H='"test/trace/dtrace/machine/fake_ops.h"' \
	$(HOST_SANITIZE) -fno-omit-frame-pointer
D_MACHINE_CORE := $(addprefix trace/dtrace/,bound.c builtin.c code.c cost.c decode.c \
	agg_function.c glob.c helper_check.c helper_load.c image.c inet.c destructive.c json.c load.c reason.c retained.c run.c run_seldom.c short_text.c store.c strtoll.c subr.c subr_extra.c \
	subr_memory.c subr_number.c subr_path.c subr_search.c subr_string.c text.c validate.c \
	variable.c)
D_MACHINE_OBJS := $(patsubst %.c,$(B)/unit/d_machine/%.o,$(D_MACHINE_CORE) \
	test/tool/failed.c test/trace/dtrace/machine/fake.c test/trace/dtrace/machine/fake_dynvar.c test/trace/dtrace/machine/assemble.c test/trace/dtrace/machine/builder.c test/trace/dtrace/machine/world.c)

$(B)/unit/d_machine/%.o: %.c | $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(D_MACHINE_FLAGS) -MMD -MP -c -o $@ $<

$(D_MACHINE_TESTS): $(B)/unit/d_machine_%: $(B)/unit/d_machine/test/trace/dtrace/machine/%_test.o \
		$(D_MACHINE_OBJS)
	$(Q)$(HOST_CC) $(D_MACHINE_FLAGS) -o $@ $^ -lcmocka

-include $(D_MACHINE_OBJS:.o=.d) \
	$(D_MACHINE_TESTS:$(B)/unit/d_machine_%=$(B)/unit/d_machine/test/trace/dtrace/machine/%_test.d)

# SPDX-License-Identifier: BSD-2-Clause
#
# The host command build/kymo, and the generators of docs/. Included by the top Makefile; B and Q
# are its. Adds to its goals `host` and `host-docs`, and has `host-docs-check`.

HOST_READER_SRCS := $(sort $(wildcard host/reader/*.c)) lib/capture/check.c
# The D compiler; flex and bison write its lexer and parser.
HOST_D_GEN := $(B)/gen/d
# Its layers: each includes headers of its own and of those before it (scripts/check-includes).
HOST_D_LAYERS := base types tree check code clause syntax session
HOST_D_SRCS := $(sort $(wildcard $(HOST_D_LAYERS:%=host/dt/%/*.c))) $(HOST_D_GEN)/dt_grammar.c \
	$(HOST_D_GEN)/dt_lexer.c
# `kymo dtrace`: the layers of the consumer, each of which sees those to its left; then the command.
HOST_DTRACE_LAYERS := aggregation print consume replay
HOST_DTRACE_SRCS := $(sort $(wildcard $(HOST_DTRACE_LAYERS:%=host/dtrace/%/*.c) host/dtrace/*.c))
# The D machine inside the command: its target `self`. subr_none.c is for boards.
HOST_MACHINE_SRCS := $(filter-out trace/dtrace/subr_none.c,$(sort $(wildcard trace/dtrace/*.c \
	trace/dtrace/provider/*.c trace/dtrace/cost/*.c trace/dtrace/none/*.c)))
HOST_REMOTE_SRCS := $(sort $(wildcard host/remote/*.c))
HOST_SRCS := $(sort $(wildcard host/*.c)) $(HOST_READER_SRCS) $(sort $(wildcard host/print/*.c)) \
             $(sort $(wildcard host/cut/*.c)) $(sort $(wildcard host/symbols/*.c)) \
             $(sort $(wildcard host/top/*.c)) $(sort $(wildcard host/collect/*.c)) \
             $(sort $(wildcard host/assert/*.c host/diagnose/*.c host/diff/*.c host/log/*.c host/verify/*.c)) $(sort $(wildcard host/report/*.c host/view/*.c)) \
             $(sort $(wildcard host/stat/*.c)) $(sort $(wildcard host/run/*.c)) $(HOST_D_SRCS) \
             $(sort $(wildcard host/export/*.c host/fleet/*.c) $(wildcard host/flow/*.c host/timeline/*.c host/why/*.c)) \
             $(HOST_DTRACE_SRCS) $(sort $(wildcard host/target/*.c)) \
             $(sort $(wildcard host/self/*.c host/pid/*.c)) $(HOST_REMOTE_SRCS) $(HOST_MACHINE_SRCS) \
             $(sort $(wildcard host/link/*.c)) $(sort $(wildcard lib/link/*.c)) \
             $(sort $(wildcard lib/linkd/*.c)) \
             $(sort $(wildcard host/extract/*.c)) $(sort $(wildcard lib/blocklog/*.c)) \
             $(sort $(wildcard lib/retain/*.c)) lib/panic/text.c lib/capture/losses.c
# The D machine once more, with the port of a capture (host/after): one object, whose symbols but
# the call of host/after/target.h are its own.
HOST_AFTER_SRCS := $(sort $(wildcard host/after/*.c)) $(filter-out trace/dtrace/control%.c trace/dtrace/helper%.c,$(filter \
	trace/%,$(HOST_MACHINE_SRCS))) trace/dtrace/site/sites.c host/self/port_nolog.c
HOST_CC ?= cc
include host/report/report.mk
# Perfetto's messages, and what libprotobuf-c needs for them: one object for all programs.
HOST_PERFETTO_GEN := $(B)/gen/perfetto
HOST_PERFETTO_OBJ := $(B)/host/perfetto.o
HOST_OBJS := $(HOST_SRCS:%.c=$(B)/host/%.o) $(B)/host/after.o $(B)/host/kev.o $(REPORT_PAGE_OBJ) \
	$(HOST_PERFETTO_OBJ)
# The command and libkev are equal in any folder; debuggers find sources from the tree's.
HOST_CMD_CFLAGS := -std=gnu11 -O2 $(HOST_DEBUG) -Wall -Wextra -Werror '-ffile-prefix-map=$(CURDIR)=.' \
                   -I. -I$(HOST_D_GEN) -I$(HOST_PERFETTO_GEN) -D_FILE_OFFSET_BITS=64 -D_GNU_SOURCE \
                   -DDTRACE_PORT_OPS_H='"host/self/port_ops.h"'

host: $(B)/kymo

# The version is the one at the time of linking: a new commit alone links nothing, a new release does. A
# kymo that is in use is never seen half-written. The linker's map is for scripts/third-party.
host_link = $(Q)echo "const char kymo_version[] = \"$$(scripts/version)\";" >$(1).version.c; \
	$(HOST_CC) -c -o $(1).version.o $(1).version.c && $(HOST_CC) $(2) -Wl,-Map=$(1).map -o $(1).new $(1).version.o \
	$(filter %.o,$^) -lm -lpthread -ldw -lelf -lz -lmicrohttpd && mv $(1).new $(1)
$(B)/kymo $(B)/kymo.map &: $(HOST_OBJS) $(B)/release
	$(call host_link,$(B)/kymo)
ifneq ($(shell scripts/version -r),$(shell cat $(B)/release 2>/dev/null))
.PHONY: $(B)/release
endif
$(B)/release:
	@mkdir -p $(@D)
	$(Q)scripts/version -r >$@

# The same with the version of this moment, for packages.
.PHONY: $(B)/deb/kymo
$(B)/deb/kymo: $(HOST_OBJS)
	@mkdir -p $(@D)
	$(call host_link,$@)

# The compiler without a target, for boot images.
$(B)/tools/mkd: $(B)/host/host/gen/mkd.o $(filter-out $(B)/host/host/main.o,$(HOST_OBJS))
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -o $@ $^ -lm -lpthread -ldw -lelf -lz -lmicrohttpd

$(HOST_SRCS:%.c=$(B)/host/%.o) $(B)/host/host/gen/mkd.o: $(B)/host/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -MMD -MP -c -o $@ $<

HOST_AFTER_CFLAGS := $(filter-out -DDTRACE_PORT_OPS_H=%,$(HOST_CMD_CFLAGS)) \
	-DDTRACE_PORT_OPS_H='"host/after/port_ops.h"' -DTRACE_PORT_OPS_H='"trace/port/host.h"'
$(HOST_AFTER_SRCS:%.c=$(B)/host-after/%.o): $(B)/host-after/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_AFTER_CFLAGS) -MMD -MP -c -o $@ $<
$(HOST_AFTER_SRCS:%.c=$(B)/host-after-asan/%.o): $(B)/host-after-asan/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_AFTER_CFLAGS) $(HOST_ASAN_CFLAGS) -MMD -MP -c -o $@ $<
host_after = $(Q)ld -r -o $@.new $^ && objcopy --keep-global-symbol=after_target_open $@.new $@
$(B)/host/after.o: $(HOST_AFTER_SRCS:%.c=$(B)/host-after/%.o)
	$(call host_after)
$(B)/host-asan/after.o: $(HOST_AFTER_SRCS:%.c=$(B)/host-after-asan/%.o)
	$(call host_after)

# The same under the sanitizers, for test/dtrace.
HOST_ASAN_CFLAGS := -O0 $(HOST_SANITIZE) -fno-omit-frame-pointer
HOST_ASAN_OBJS := $(HOST_SRCS:%.c=$(B)/host-asan/%.o) $(B)/host-asan/after.o $(B)/host-asan/kev.o $(REPORT_PAGE_OBJ) \
	$(HOST_PERFETTO_OBJ)
$(B)/kymo-asan: $(HOST_ASAN_OBJS) $(B)/release
	$(call host_link,$@,$(HOST_SANITIZE))

$(HOST_SRCS:%.c=$(B)/host-asan/%.o): $(B)/host-asan/%.o: %.c | $(HOST_D_GEN)/dt_grammar.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) $(HOST_ASAN_CFLAGS) -MMD -MP -c -o $@ $<

$(HOST_PERFETTO_GEN)/perfetto.pb-c.c $(HOST_PERFETTO_GEN)/perfetto.pb-c.h &: host/export/perfetto.proto
	@mkdir -p $(@D)
	$(Q)protoc-c --c_out=$(@D) --proto_path=host/export $<
$(foreach f,host host-asan,$(addprefix $(B)/$f/host/export/perfetto,.o _packet.o)): | \
	$(HOST_PERFETTO_GEN)/perfetto.pb-c.h
$(HOST_PERFETTO_OBJ) $(HOST_PERFETTO_OBJ).map &: $(HOST_PERFETTO_GEN)/perfetto.pb-c.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -std=gnu11 -O2 -c -o $(HOST_PERFETTO_OBJ).pb $<
	$(Q)ld -r -Map=$(HOST_PERFETTO_OBJ).map -o $(HOST_PERFETTO_OBJ) $(HOST_PERFETTO_OBJ).pb $$($(HOST_CC) -print-file-name=libprotobuf-c.a)

$(HOST_D_GEN)/dt_grammar.c $(HOST_D_GEN)/dt_grammar.h &: host/dt/syntax/grammar.y
	@mkdir -p $(@D)
	$(Q)bison -Wall -Wno-yacc --header=$(HOST_D_GEN)/dt_grammar.h -o $(HOST_D_GEN)/dt_grammar.c $<

$(HOST_D_GEN)/dt_lexer.c: host/dt/syntax/lexer.l
	@mkdir -p $(@D)
	$(Q)flex -o $@ $<

$(HOST_D_SRCS:%.c=$(B)/host/%.o): | $(HOST_D_GEN)/dt_grammar.h

$(B)/gen/%: host/gen/%.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -MMD -MP -o $@ $<

# The event hooks as plain C, of the kernel and of the tests that include trace/hook.h.
TRACE_TABLES := trace/events.def trace/sites.def
TRACE_GEN := $(addprefix $(B)/gen/,trace_hooks.h trace_emit.inc.h trace_fire.inc.h trace_events.inc.h \
	trace_kercalls.inc.h d_sites.inc.h d_reasons.inc.h)
$(B)/gen/gen_trace_hooks: host/gen/gen_trace_hooks.c host/gen/event_table.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -o $@ $(filter %.c,$^)
$(B)/gen/gen_trace_hooks: host/gen/event_table.h trace/slot.h

$(B)/gen/trace_hooks.h: TRACE_GEN_WHAT := hooks
$(B)/gen/trace_emit.inc.h: TRACE_GEN_WHAT := emit
$(B)/gen/trace_fire.inc.h: TRACE_GEN_WHAT := fire
$(B)/gen/trace_events.inc.h: TRACE_GEN_WHAT := text
$(filter-out %/trace_kercalls.inc.h %/d_sites.inc.h %/d_reasons.inc.h,$(TRACE_GEN)): $(B)/gen/gen_trace_hooks $(TRACE_TABLES)
	$(Q)$< $(TRACE_GEN_WHAT) $(TRACE_TABLES) >$@
$(B)/gen/trace_kercalls.inc.h $(B)/gen/d_sites.inc.h $(B)/gen/d_reasons.inc.h: $(B)/gen/%.inc.h: $(B)/gen/gen_%
	$(Q)$< >$@
$(B)/gen/gen_d_reasons: host/gen/gen_d_reasons.c host/gen/short_texts.c host/gen/short_texts.h trace/dtrace/reasons.def
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -o $@ $(filter %.c,$^)
$(HOST_MACHINE_SRCS:%.c=$(B)/host/%.o) $(HOST_MACHINE_SRCS:%.c=$(B)/host-asan/%.o) \
		$(foreach kind,host-after host-after-asan,$(HOST_AFTER_SRCS:%.c=$(B)/$(kind)/%.o)): | $(TRACE_GEN)
$(B)/gen/gen_dif_md: host/gen/gen_dif_md.c host/dt/session/registers.c host/dt/registers.h \
		host/gen/gen.h abi/sys/panic.h trace/dtrace/opcodes.def
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -o $@ $(filter %.c,$^)
.PHONY: trace-gen
trace-gen: $(TRACE_GEN)

# The generated pages and headers are committed. host-docs writes them, host-docs-check fails if they
# are old.
HOST_DOCS := events kercalls dif providers derived
GEN_HEADERS := kercalls trace_names

host-docs: $(HOST_DOCS:%=$(B)/gen/gen_%_md) $(GEN_HEADERS:%=$(B)/gen/gen_%_h)
	$(Q)for doc in $(HOST_DOCS); do $(B)/gen/gen_$${doc}_md >docs/reference/$$doc.md || exit 1; done
	$(Q)for header in $(GEN_HEADERS); do \
	    $(B)/gen/gen_$${header}_h >abi/sys/$$header.h || exit 1; \
	done
	$(Q)scripts/draw-pictures docs/pictures
	$(Q)scripts/stamp-man
	$(Q)scripts/measure-house --docs
	$(Q)scripts/test-readmes

.PHONY: host-docs-check
host-docs-check: $(HOST_DOCS:%=$(B)/gen/gen_%_md) $(GEN_HEADERS:%=$(B)/gen/gen_%_h)
	$(Q)for doc in $(HOST_DOCS); do \
	    $(B)/gen/gen_$${doc}_md | cmp - docs/reference/$$doc.md || { \
	        echo "docs/reference/$$doc.md is old: run make docs" >&2; exit 1; }; \
	done
	$(Q)for header in $(GEN_HEADERS); do \
	    $(B)/gen/gen_$${header}_h | cmp - abi/sys/$$header.h || { \
	        echo "abi/sys/$$header.h is old: run make docs" >&2; exit 1; }; \
	done
	$(Q)old=$$(scripts/measure-house --docs-check); [ -z "$$old" ] || { echo "$$old" >&2; exit 1; }

include host/kev/kev.mk
include host/babeltrace2/babeltrace2.mk

-include $(HOST_OBJS:.o=.d) $(B)/host/host/gen/mkd.d $(HOST_ASAN_OBJS:.o=.d) \
	$(foreach kind,host-after host-after-asan,$(HOST_AFTER_SRCS:%.c=$(B)/$(kind)/%.d)) $(HOST_DOCS:%=$(B)/gen/gen_%_md.d) \
	$(GEN_HEADERS:%=$(B)/gen/gen_%_h.d) $(B)/gen/gen_trace_kercalls.d \
	$(B)/gen/gen_d_sites.d

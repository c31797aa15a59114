# SPDX-License-Identifier: BSD-2-Clause
#
# libkev, the reader of captures as a library (docs/reference/libkev.md). Included by host/host.mk.
# Adds the goal `libkev`: build/libkev/ has libkev.so.1, libkev.a and kev.pc, which `make install`
# installs with kev.h.

# What the commands share with it; host/kev/quiet.c takes the place of host/diag.c.
LIBKEV_SHARED := $(HOST_READER_SRCS) $(addprefix host/,id_tree.c nearest.c owner.c record.c select.c select_event.c \
	temporary.c when.c log/elf.c log/find.c log/format.c remote/elf_id.c)
LIBKEV_OWN := $(sort $(wildcard host/kev/*.c))
LIBKEV := $(B)/libkev
LIBKEV_OBJS := $(patsubst %.c,$(LIBKEV)/%.o,$(LIBKEV_SHARED) $(LIBKEV_OWN))
# The functions of the version script, one a line.
LIBKEV_EXPORTS := sed -n 's/^ *\(kev_[a-z_]*\);/\1/p' host/kev/kev.map

libkev: $(LIBKEV)/libkev.so.1 $(LIBKEV)/libkev.so $(LIBKEV)/libkev.a $(LIBKEV)/kev.pc

$(LIBKEV_OBJS): $(LIBKEV)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -fPIC -MMD -MP -c -o $@ $<

$(LIBKEV)/libkev.so.1 $(LIBKEV)/libkev.so.1.map &: $(LIBKEV_OBJS) host/kev/kev.map
	$(Q)$(HOST_CC) -shared -Wl,-soname,libkev.so.1 -Wl,--version-script=host/kev/kev.map \
	    -Wl,-z,defs -Wl,-Map=$(LIBKEV)/libkev.so.1.map -o $(LIBKEV)/libkev.so.1 \
	    $(LIBKEV_OBJS) -lelf
$(LIBKEV)/libkev.so: $(LIBKEV)/libkev.so.1
	$(Q)ln -sf libkev.so.1 $@
# One object, in which only the exported names are global: no name of ours clashes with a program's.
$(LIBKEV)/libkev.a: $(LIBKEV_OBJS) host/kev/kev.map
	$(Q)$(LIBKEV_EXPORTS) >$@.names
	$(Q)$(HOST_CC) -r -nostdlib -o $@.o $(LIBKEV_OBJS)
	$(Q)objcopy --keep-global-symbols=$@.names $@.o
	$(Q)rm -f $@ && ar rcD $@ $@.o
$(LIBKEV)/kev.pc: host/kev/kev.pc.in host/kev/kev.h
	@mkdir -p $(@D)
	$(Q)version=$$(sed -n 's/^.define KEV_VERSION_M[AI][JN]OR //p' host/kev/kev.h | paste -sd .) && \
	    sed "s/@VERSION@/$$version/" $< >$@

# The library under the sanitizers, for tests; the shared files are those of build/host-asan/.
LIBKEV_ASAN_OBJS := $(LIBKEV_OWN:%.c=$(B)/host-asan/%.o)
$(LIBKEV_ASAN_OBJS): $(B)/host-asan/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -O1 $(HOST_SANITIZE) \
	    -fno-omit-frame-pointer -MMD -MP -c -o $@ $<

-include $(LIBKEV_OBJS:.o=.d) $(LIBKEV_ASAN_OBJS:.o=.d)

# The library as the command has it: one object, of which only the exported names are global, and its
# reader's kev_log_text under another name: host/log/log.c sets both readers'.
kev_object = $(Q)$(LIBKEV_EXPORTS) >$@.names; ld -r -o $@.new $(filter %.o,$^) && \
	objcopy --redefine-sym kev_log_text=kev_library_log_text $@.new && \
	objcopy --keep-global-symbols=$@.names --keep-global-symbol=kev_library_log_text \
	    --keep-global-symbol=capture_inside $@.new $@
$(B)/host/kev.o: $(LIBKEV_OBJS)
	@mkdir -p $(@D)
	$(call kev_object)
$(B)/host-asan/kev.o: $(LIBKEV_SHARED:%.c=$(B)/host-asan/%.o) $(LIBKEV_ASAN_OBJS)
	$(call kev_object)
$(B)/host/kev.o $(B)/host-asan/kev.o: host/kev/kev.map host/kev/kev.mk

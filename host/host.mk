# SPDX-License-Identifier: BSD-2-Clause
#
# The host command build/kymo, and the generators of docs/. Included by the top Makefile; B and Q
# are its. Adds to its goals `host` and `host-docs`, and has `host-docs-check`.

HOST_READER_SRCS := $(sort $(wildcard host/reader/*.c))
HOST_SRCS := $(sort $(wildcard host/*.c)) $(HOST_READER_SRCS) $(sort $(wildcard host/print/*.c)) \
             $(sort $(wildcard host/stat/*.c)) $(sort $(wildcard host/run/*.c))
HOST_OBJS := $(HOST_SRCS:%.c=$(B)/host/%.o)
HOST_CC ?= cc
HOST_CMD_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Werror -I. -D_FILE_OFFSET_BITS=64

host: $(B)/kymo

$(B)/kymo: $(HOST_OBJS)
	$(Q)$(HOST_CC) -o $@ $^

$(HOST_OBJS): $(B)/host/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/gen/%: host/gen/%.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -MMD -MP -o $@ $<

# The generated pages are committed. host-docs writes them, host-docs-check fails if they are old.
HOST_DOCS := events kercalls dif

host-docs: $(HOST_DOCS:%=$(B)/gen/gen_%_md)
	$(Q)for doc in $(HOST_DOCS); do $(B)/gen/gen_$${doc}_md >docs/$$doc.md || exit 1; done

.PHONY: host-docs-check
host-docs-check: $(HOST_DOCS:%=$(B)/gen/gen_%_md)
	$(Q)for doc in $(HOST_DOCS); do \
	    $(B)/gen/gen_$${doc}_md | cmp - docs/$$doc.md || { \
	        echo "docs/$$doc.md is old: run make docs" >&2; exit 1; }; \
	done

-include $(HOST_OBJS:.o=.d) $(HOST_DOCS:%=$(B)/gen/gen_%_md.d)

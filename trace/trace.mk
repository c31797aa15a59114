# SPDX-License-Identifier: BSD-2-Clause
# The sources of trace/ by part. A part that is left out has its file in trace/none/ in its place, which
# refuses what needs it: $(call trace_srcs,PARTS). D's machine, trace/dtrace/, has its own lists.
TRACE_PARTS := dtrace gate kercall retain threads
TRACE_PART_dtrace := trace/dtrace/site/sites.c
TRACE_PART_gate := trace/gate.c
TRACE_PART_kercall := trace/kercall.c
# TRACE_CRC_SRC: an implementation of trace/crc32c.h with a CPU's instructions, of trace/port/.
TRACE_CRC_SRC ?= trace/crc32c.c
TRACE_PART_retain := trace/retain.c $(TRACE_CRC_SRC)
TRACE_PART_threads := trace/threads.c trace/control_threads.c
TRACE_CORE := $(filter-out $(foreach p,$(TRACE_PARTS),$(TRACE_PART_$(p))) trace/crc32c.c,$(sort $(wildcard trace/*.c)))
trace_srcs = $(TRACE_CORE) $(foreach p,$(TRACE_PARTS),$(if $(filter $(p),$(1)),$(TRACE_PART_$(p)),trace/none/$(p).c))

# SPDX-License-Identifier: BSD-2-Clause
PROGRAMS += tracelogger tracestop

# What board.mk calls DISK: a disk, or none.
SINK_BLOCK_none := tracelogger/sink_block_none.c
SINK_BLOCK_virtio := tracelogger/sink_block.c \
	$(addprefix lib/blocklog/,open.c write.c)
SINK_BLOCK_sdhci := $(SINK_BLOCK_virtio)
SINK_BLOCK_pc := $(SINK_BLOCK_virtio)

tracelogger_SRCS := $(addprefix tracelogger/,main.c options.c filters.c option_set.c capture.c carry.c \
	control.c gate.c header.c lag.c need.c owner.c recycled.c report.c refused.c session.c sink.c sink_host.c \
	sink_link.c) $(SINK_BLOCK_$(DISK))
tracelogger_SRCS += $(addprefix tracelogger/,keep.c object.c option_memory.c option_together.c sink_memory.c)
tracelogger_SRCS += tracelogger/recover.c lib/panic/text.c $(CRC32C_SRC) $(sort $(wildcard lib/retain/*.c))
tracestop_SRCS := tracelogger/tracestop.c

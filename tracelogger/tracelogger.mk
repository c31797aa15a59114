# SPDX-License-Identifier: BSD-2-Clause
PROGRAMS += tracelogger tracestop
tracelogger_SRCS := $(addprefix tracelogger/,main.c options.c capture.c control.c header.c \
	report.c sink.c sink_host.c sink_link.c)
tracestop_SRCS := tracelogger/tracestop.c

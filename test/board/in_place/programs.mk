# SPDX-License-Identifier: BSD-2-Clause
# What a board with 128 KB of RAM must do: images for boards whose programs run from
# flash.

ifeq ($(PLACE),flash)
PROGRAMS += sink
sink_SRCS := test/board/in_place/sink.c
IMAGES += trio
trio_SCRIPT := test/board/in_place/trio.start
trio_PROGRAMS := init linkd tracelogger tracestop filter sensor sink
trio_D := test/board/in_place/trio.d
IMAGES += oneliner
oneliner_SCRIPT := test/board/in_place/oneliner.start
oneliner_PROGRAMS := init linkd filter sensor
TEST_IMAGES += rtt
rtt_SCRIPT := test/board/in_place/rtt.start
rtt_PROGRAMS := $(oneliner_PROGRAMS)
IMAGES += recorder
recorder_SCRIPT := test/board/in_place/recorder.start
recorder_PROGRAMS := init linkd tracelogger filter sensor sink
TEST_IMAGES += kernel
kernel_SCRIPT := test/board/in_place/kernel.start
kernel_PROGRAMS := init t_placed t_pulse t_align t_errno
PROGRAMS += t_placed
t_placed_SRCS := test/board/in_place/t_placed.c $(boot_common)
endif

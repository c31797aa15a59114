# SPDX-License-Identifier: BSD-2-Clause
# The images of `make bench` and `make bench-host`.

PROGRAMS += bench
bench_SRCS := test/bench/guest.c lib/capture/check.c trace/crc32c.c
FLAGS_test/bench/guest.c = $(FLAGS_test_device)
PROGRAMS += bench_msg
bench_msg_SRCS := test/bench/guest_msg.c
PROGRAMS += bench_calls
bench_calls_SRCS := test/bench/guest_calls.c
PROGRAMS += bench_d
bench_d_SRCS := test/bench/guest_d.c
TEST_IMAGES += bench
bench_D := $(filter-out %/static_d.d,$(wildcard test/bench/d/*.d))
bench_SCRIPT := test/bench/bench.start
bench_PROGRAMS := init bench bench_msg bench_calls bench_d
# A program's static probe is known to build/kymo, from its ELF file: built with boot-d.
TEST_IMAGES_ASKED_FOR += bench_static
bench_static_IMAGE_D := test/bench/d/static_d.d
D_PROGRAMS := # the programs whose static probes a D program of an image names
static_d := $(B)/boot_d_of/test/bench/d/static_d.dif
$(static_d): $(B)/programs/bench_d
$(static_d): D_PROGRAMS := $(B)/programs/bench_d
bench_static_SCRIPT := test/bench/static.start
bench_static_PROGRAMS := init bench_d
TEST_IMAGES += bench_map
bench_map_SCRIPT := test/bench/map.start
bench_map_PROGRAMS := init bench
PROGRAMS += bench_latency
bench_latency_SRCS := test/bench/guest_latency.c test/bench/guest_bounds.c \
	test/bench/guest_bounds_sync.c test/bench/guest_bounds_rest.c test/bench/guest_bounds_trace.c
TEST_IMAGES += bench_latency
bench_latency_D := test/bench/d/latency_calls.d test/bench/d/latency_functions.d \
	test/bench/d/latency_records.d \
	test/board/gate/gated.d
bench_latency_SCRIPT := test/bench/latency.start
bench_latency_PROGRAMS := init bench_latency
PROGRAMS += bench_smp
bench_smp_SRCS := test/bench/guest_smp.c
TEST_IMAGES += bench_smp
bench_smp_SCRIPT := test/bench/smp.start
bench_smp_PROGRAMS := init bench_msg bench_smp
PROGRAMS += bench_events
bench_events_SRCS := test/bench/guest_events.c
TEST_IMAGES += bench_events
bench_events_SCRIPT := test/bench/events.start
bench_events_PROGRAMS := init bench_msg bench_events
# The same where programs run in flash: two instances at a time are two programs.
ifeq ($(PLACE),flash)
PROGRAMS += bench_plain bench_info bench_fp bench_end
bench_plain_SRCS := $(bench_msg_SRCS)
bench_info_SRCS := $(bench_msg_SRCS)
bench_fp_SRCS := $(bench_msg_SRCS)
bench_end_SRCS := $(bench_calls_SRCS)
TEST_IMAGES += bench_placed
bench_placed_SCRIPT := test/bench/placed.start
bench_placed_PROGRAMS := init bench_plain bench_info bench_fp bench_msg bench_calls bench_end
TEST_IMAGES += bench_placed_events
bench_placed_events_SCRIPT := test/bench/placed_events.start
bench_placed_events_PROGRAMS := init bench_plain bench_events
endif
TEST_IMAGES += ratio
ratio_SCRIPT := test/bench/ratio.start
ratio_PROGRAMS := init console tracelogger $(DEMO_PROGRAMS)
PROGRAMS += bench_firing
bench_firing_SRCS := test/bench/guest_firing.c

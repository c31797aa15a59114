# SPDX-License-Identifier: BSD-2-Clause
# The image of `make bench`.

PROGRAMS += bench
bench_SRCS := test/bench/guest.c
IMAGES += bench
bench_SCRIPT := test/bench/bench.start
bench_PROGRAMS := init bench

# SPDX-License-Identifier: BSD-2-Clause
# What only x86-64 has: segments, flags, I/O ports.

ifeq ($(ARCH),x86_64)
t_x86_64_SRCS := test/board/x86_64/t_x86_64.c test/board/programs/check.c test/board/programs/raw_x86_64.S
PROGRAMS += t_x86_64
x86_64_SCRIPT := test/board/x86_64/x86_64.start
x86_64_PROGRAMS := init t_x86_64
TEST_IMAGES += x86_64
endif

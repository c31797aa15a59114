# SPDX-License-Identifier: BSD-2-Clause
# What only an AArch64 can be asked: whose the FP registers and TPIDR_EL0 are. One image.

ifeq ($(ARCH),aarch64)
t_aarch64_SRCS := test/board/aarch64/t_aarch64.c test/board/aarch64/hold.S test/board/programs/check.c \
	test/board/programs/raw_$(ARCH).S
PROGRAMS += t_aarch64
aarch64_SCRIPT := test/board/aarch64/aarch64.start
aarch64_PROGRAMS := init t_aarch64
TEST_IMAGES += aarch64
endif

# SPDX-License-Identifier: BSD-2-Clause
# What only an AArch64 can be asked: whose the FP registers and TPIDR_EL0 are. One image.

ifeq ($(ARCH),aarch64)
t_aarch64_SRCS := test/aarch64/t_aarch64.c test/aarch64/hold.S test/boot/programs/check.c \
	test/boot/programs/raw_$(ARCH).S
PROGRAMS += t_aarch64
aarch64_SCRIPT := test/aarch64/aarch64.start
aarch64_PROGRAMS := init t_aarch64
TEST_IMAGES += aarch64
endif

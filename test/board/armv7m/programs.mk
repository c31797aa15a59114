# SPDX-License-Identifier: BSD-2-Clause
# What only a Cortex-M can be asked: stack pointers, exception frames, FP state. One image.

ifeq ($(ARCH),armv7m)
t_armv7m_SRCS := test/board/armv7m/t_armv7m.c test/board/armv7m/kinds.c test/board/armv7m/fp.c test/board/programs/check.c \
	test/board/programs/raw_$(ARCH).S
PROGRAMS += t_armv7m
armv7m_SCRIPT := test/board/armv7m/armv7m.start
armv7m_PROGRAMS := init t_armv7m
TEST_IMAGES += armv7m
endif

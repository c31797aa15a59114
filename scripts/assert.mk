# SPDX-License-Identifier: BSD-2-Clause
#
# Assertions (kernel/base/assert.h, trace/assert.h): ASSERT_FLAGS_1 switches them on, in debug images
# (DEBUG=1) and in the tests of this machine; without, they compile to nothing.

ASSERT_FLAGS_0 :=
ASSERT_FLAGS_1 := -DKERNEL_ASSERT_OPS_H='"kernel/base/assert_on.h"' -DTRACE_ASSERT_OPS_H='"trace/assert_on.h"'

# SPDX-License-Identifier: BSD-2-Clause
# What all boards with Cortex-M4s say alike: their board.mk include this first, then say the rest
# (docs/guide/port.md). KYMO_TREE: where the tree is, if not here (scripts/app.mk).

comma := ,
CROSS := arm-none-eabi-
# The counter of cycles interrupts nothing: D has the variable `cycles`, but not the provider cpc.
COUNTER_PROBES := no
# Passes that cost some bytes are off, and some that save a few are on: searched for D's files.
D_SMALL_FLAGS := -Os -fno-schedule-insns2 -fno-move-loop-invariants -fno-tree-loop-im -fno-tree-dominator-opts \
	-fno-forward-propagate -fno-tree-ccp
D_COLD_FLAGS := $(D_SMALL_FLAGS) -fno-thread-jumps -fno-bit-tests -fno-tree-scev-cprop -fno-if-conversion \
	-fno-section-anchors -fno-tree-pta -fweb -fsplit-wide-types-early -fmerge-all-constants \
	--param=gcse-cost-distance-ratio=1 --param=sra-max-scalarization-size-Osize=32 --param=max-cse-path-length=20 \
	-fno-partial-inlining -fno-tree-tail-merge -fno-ipa-icf-functions -fno-tree-loop-ivcanon \
	-fno-function-sections -fno-caller-saves -fno-tree-fre --param=large-function-insns=100000 --param=large-stack-frame=10000
D_WHOLE := yes
# Cold files that a probe firing passes through are on their own, and faster.
D_APART := $(addprefix trace/dtrace/,site/sites act aggregate agg_function)
D_APART_FLAGS := $(D_SMALL_FLAGS)
# The code of a probe firing is smaller and faster without these (pairs of zeros are stored singly); of two
# files also for size.
D_HOT_FLAGS := -freorder-blocks-algorithm=simple -fno-inline-small-functions -fno-tree-slp-vectorize
D_HOT_SMALL := trace/dtrace/builtin trace/dtrace/variable
D_HOT_SMALL_FLAGS := $(D_SMALL_FLAGS) -DDTRACE_HOT_INLINED

# SPDX-License-Identifier: BSD-2-Clause
# How aggregations of several CPUs become one, against definitions, on this machine.

$(call unit_program,d_merge_test,test/host/dtrace/aggregation/merge_test.c trace/dtrace/agg_function.c \
	$(addprefix host/dtrace/aggregation/,merge.c sort.c buckets.c) test/tool/failed.c,\
	$(HOST_CMD_CFLAGS) $(HOST_SANITIZE) $(ASSERT_FLAGS_1) -fno-omit-frame-pointer,-lm)

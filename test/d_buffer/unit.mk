# SPDX-License-Identifier: BSD-2-Clause
# The D machine's buffers and aggregations against naive models, on this machine.

UNIT_D_BUFFER := $(addprefix $(B)/unit/d_,buffer_test merge_test)
UNIT_TESTS += $(UNIT_D_BUFFER)
UNIT_D_BUFFER_FLAGS := $(HOST_CMD_CFLAGS) $(ASSERT_FLAGS_1) -fsanitize=address,undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer

$(B)/unit/d_buffer_test: test/d_buffer/buffer_test.c trace/dtrace/buffer.c
$(B)/unit/d_merge_test: test/d_buffer/merge_test.c trace/dtrace/agg_function.c host/dtrace/aggregation/merge.c \
	host/dtrace/aggregation/sort.c host/dtrace/aggregation/buckets.c

$(UNIT_D_BUFFER): test/failed.c $(wildcard test/d_buffer/*.h trace/dtrace/*.h host/dtrace/aggregation/*.h) test/random.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(UNIT_D_BUFFER_FLAGS) -D_GNU_SOURCE -o $@ $(filter %.c,$^) -lcmocka -lm

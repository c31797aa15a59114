# SPDX-License-Identifier: BSD-2-Clause
# The D machine's buffers against a naive model, on this machine.

$(call unit_program,d_buffer_test,test/trace/dtrace/buffer_test.c trace/dtrace/buffer.c test/tool/failed.c,\
	$(HOST_CMD_CFLAGS) $(HOST_SANITIZE) $(ASSERT_FLAGS_1) -fno-omit-frame-pointer,-lm)

# SPDX-License-Identifier: BSD-2-Clause
# Parts of lib/ that are a file each, on this machine: what a kernel's last record says in a capture,
# and which CPUs are asked for a buffer.

$(call unit_program,panic_text,test/lib/panic/text_test.c lib/panic/text.c,$(HOST_SANITIZE))
$(call unit_program,tracelogger_idle,test/lib/capture/idle_test.c lib/capture/idle.c,$(HOST_SANITIZE))

# SPDX-License-Identifier: BSD-2-Clause
#
# What every user program links, as libkymo.a. Needs ARCH and LIBC (newlib, picolibc) of the board.

# No two files of one name: an archive knows its members by their last part.
LIB_SRCS_picolibc := lib/libc/picolibc/stdio.c lib/arch/$(ARCH)/thread_pointer.c
LIB_SRCS_newlib_armv7m := lib/libc/newlib/reent_word.c
LIB_SRCS_newlib_x86_64 := lib/arch/x86_64/reent_tls.c lib/libc/newlib/plain.c
# How a function of the library finds the calling thread's block: a call, or in line.
LIB_SELF_picolibc_aarch64 := lib/libc/picolibc/self_tls.h
USER_FLAGS += -DKYMO_SELF_H='"$(or $(LIB_SELF_$(LIBC)_$(ARCH)),lib/libc/self_call.h)"'
# scripts/board.mk has the same for the kernel; scripts/app.mk has none to make.
SITES ?= patched
LIB_SRCS_patched := lib/system_probe.c $(addprefix lib/heap/,malloc.c realloc.c free.c memalign.c) \
	$(if $(filter picolibc,$(LIBC)),lib/libc/picolibc/aligned_alloc.c)
USER_FLAGS += -DKYMO_HEAP_H='"lib/libc/$(LIBC)/heap.h"'
LIB_SRCS_picolibc_armv7m := lib/arch/armv7m/read_tp.S lib/libc/picolibc/self.c

LIB_SRCS := lib/crt0.c lib/init.c lib/calls.c lib/errno_check.c lib/process.c lib/spawn.c \
	lib/name.c lib/io.c lib/open.c lib/shm.c lib/sbrk.c lib/clock.c lib/sleep.c lib/trace_log.c lib/log.c lib/probe.c $(LIB_SRCS_$(SITES)) \
	lib/trace_place.c lib/instrument.c lib/slog.c lib/sender.c \
	$(addprefix lib/capture/,buffers.c check.c header.c idle.c losses.c) \
	$(addprefix lib/tracelog/,instance.c record.c) \
	lib/thread.c lib/thread_reap.c lib/attr.c lib/key.c lib/mutex.c lib/robust.c lib/cond.c lib/sem.c \
	lib/barrier.c lib/rwlock.c lib/timer.c lib/posix_spawn.c lib/device.c lib/nanospin.c \
	lib/stdio_lock.c \
	$(wildcard lib/arch/$(ARCH)/svc.S) \
	$(addprefix lib/libc/$(LIBC)/,tls.c locks.c stdio_wrap.c syscalls.c) \
	$(LIB_SRCS_$(LIBC)) $(LIB_SRCS_$(LIBC)_$(ARCH))

# The C library's entries that lib/libc/<libc>/stdio_wrap.c makes atomic per FILE: neither library
# as Debian builds it locks a FILE over a whole call.
LIB_WRAP_newlib := printf_r vfprintf_r vfiprintf_r puts_r fputs_r fputc_r putc_r fwrite_r fread_r \
	fgets_r getc_r fgetc_r ungetc_r fflush_r fclose_r fopen_r fdopen_r fseek_r ftell_r \
	vfscanf_r
LIB_WRAP_newlib := $(addprefix _,$(filter-out printf_r,$(LIB_WRAP_newlib))) \
	fputc putc fgetc getc ungetc fputs fgets fwrite fread puts putchar getchar
LIB_WRAP_picolibc := vfprintf fputs puts fwrite fputc putchar fread fgets fgetc getchar fflush

# Those of the heap, where there are static probes in front of them: lib/heap/heap.h.
LIB_WRAP_newlib_patched := _malloc_r _realloc_r _memalign_r _free_r
LIB_WRAP_picolibc_patched := malloc realloc memalign aligned_alloc free

# Headers and libraries: newlib is the ARM compiler's own, picolibc comes by its specs file. A board
# that says NEWLIB=<folder below build/> has it built there, from Debian's newlib-source, once for all.
ifdef NEWLIB
NEWLIB_MADE := $(NEWLIB)/lib/libc.a
$(NEWLIB_MADE): scripts/newlib
	$(call say,NEWLIB)
	$(Q)scripts/newlib $(NEWLIB) $(CROSS)
LIBC_FLAGS_newlib := -D__DYNAMIC_REENT__
endif
LIBC_FLAGS_picolibc := --specs=picolibc.specs
# What a program does not use of its objects is left out (--gc-sections, in board.mk).
CPU_FLAGS_USER += $(LIBC_FLAGS_$(LIBC)) -ffunction-sections -fdata-sections

# Taken from libkymo.a before the C library is looked at: it has the same names, with nothing behind
# them (locks that do not lock), and would win where it is searched first.
LIB_FIRST_newlib := __malloc_lock
LIB_FIRST_newlib_x86_64 := __getreent
LIB_FIRST_picolibc := __retarget_lock_acquire_recursive sbrk

comma ?= ,
USER_LDFLAGS += $(addprefix -Wl$(comma)--undefined=,$(LIB_FIRST_$(LIBC)) $(LIB_FIRST_$(LIBC)_$(ARCH)))
USER_LDFLAGS += $(addprefix -Wl$(comma)--wrap=,$(LIB_WRAP_$(LIBC)) $(LIB_WRAP_$(LIBC)_$(SITES)))
USER_LIBS ?= -lc -lgcc

# For programs that want it; a board may have a faster one.
CRC32C_SRC ?= lib/link/crc32c.c

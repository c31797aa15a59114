/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways to crash. X-macro: KIND(name, "what it does"); each is a function kind_<name>(). */
#ifndef APPS_CRASH_KINDS_H
#define APPS_CRASH_KINDS_H

#define KIND_LIST(KIND) \
    KIND(null_read, "reads address 0") \
    KIND(null_write, "writes address 0") \
    KIND(null_jump, "jumps to address 0") \
    KIND(wild_jump, "jumps into unmapped memory") \
    KIND(kernel_read, "reads the kernel's memory") \
    KIND(kernel_write, "writes the kernel's memory") \
    KIND(kernel_jump, "jumps into the kernel") \
    KIND(text_write, "writes its own instructions") \
    KIND(const_write, "writes its own constants") \
    KIND(data_jump, "runs instructions in its data") \
    KIND(stack_jump, "runs instructions on its stack") \
    KIND(stack_overflow, "recurses without end") \
    KIND(undefined, "runs an undefined instruction") \
    KIND(breakpoint, "runs a breakpoint instruction") \
    KIND(semihost, "asks the debugger for a host service, past the kernel") \
    KIND(privileged, "runs a privileged instruction") \
    KIND(device, "writes a device that it has not mapped") \
    KIND(misaligned, "loads two words from an odd address") \
    KIND(divide, "divides by zero (a crash on Cortex-M, 0 elsewhere)") \
    KIND(abort, "calls abort()") \
    KIND(bad_stack, "makes a kernel call with a wild stack pointer") \
    KIND(other, "writes to the address in the next argument")

#endif

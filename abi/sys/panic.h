/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's crash record: the reason, the running thread, the registers at the point of failure,
 * the state of the other CPUs. kernel/observe/panic.c writes it into the retained memory; the next
 * boot's tracelogger and `kymo extract --core` find it there and format it (lib/panic). Also the
 * names of the registers: the order of `registers`, by ELF machine.
 *
 * Little-endian, fixed offsets, the same on 32- and 64-bit CPUs; it contains no pointer that a
 * reader may follow. Readers trust no field: the memory may have been overwritten.
 */
#ifndef ABI_SYS_PANIC_H
#define ABI_SYS_PANIC_H

#include <stddef.h>
#include <stdint.h>

#include "abi/static_assert.h"

#define KYMO_PANIC_MAGIC 0x43494e50u /* "PNIC": the record is complete */
#define KYMO_PANIC_VERSION 1

/* kind: why the kernel stopped. X-macro: KIND(number, NAME, "text in the capture") */
#define KYMO_PANIC_LIST(KIND) \
    KIND(1, ASSERT, \
         "panic") /* the kernel detected an internal error, or was requested to panic */ \
    KIND(2, FAULT, "fault in the kernel") /* an exception inside the kernel */ \
    KIND(3, WATCHDOG, "watchdog")         /* the watchdog was not armed again in time */

enum kymo_panic_kind {
#define KIND(number, name, text) KYMO_PANIC_##name = number,
    KYMO_PANIC_LIST(KIND)
#undef KIND
};

#define KYMO_PANIC_TEXT 192
#define KYMO_PANIC_NAME 48
#define KYMO_PANIC_REGISTERS 36
#define KYMO_PANIC_FRAMES 16
#define KYMO_PANIC_CPUS 8

/* Another CPU: its thread, in the state in which it entered the kernel. */
struct kymo_panic_cpu {
    uint32_t cpu;
    uint32_t state; /* KYMO_PANIC_CPU_* */
    int32_t pid, tid;
    uint64_t ip, sp;
};
#define KYMO_PANIC_CPU_SILENT 0  /* did not answer: hangs with its interrupts masked */
#define KYMO_PANIC_CPU_IDLE 1    /* pid and the others are 0 */
#define KYMO_PANIC_CPU_RUNNING 2 /* runs a thread, or the kernel on its behalf */

struct kymo_panic {
    uint32_t magic;
    uint32_t version;
    uint32_t kind; /* enum kymo_panic_kind */
    /* e_machine of the kernel's ELF: determines the names of the registers */
    uint32_t machine;
    uint32_t cpu;                  /* number of the failing CPU */
    uint32_t call;                 /* kernel call of its thread; 255: none */
    int32_t pid, tid;              /* of its thread; 0: none */
    uint64_t time;                 /* trace clock of that CPU */
    char reason[KYMO_PANIC_TEXT];  /* ends with NUL */
    char process[KYMO_PANIC_NAME]; /* ends with NUL */
    uint32_t nregisters, nframes, ncpus;
    uint32_t reserved;
    uint64_t registers[KYMO_PANIC_REGISTERS];
    /* return addresses on the kernel's stack, innermost first */
    uint64_t frames[KYMO_PANIC_FRAMES];
    struct kymo_panic_cpu cpus[KYMO_PANIC_CPUS]; /* the other CPUs */
    /* Bytes of each CPU's kernel stack; 0 in records of kernels without this field. */
    uint32_t stack_bytes;
    uint32_t stack_used[KYMO_PANIC_CPUS]; /* its high-water mark, by CPU; 0: no such CPU */
    uint32_t reserved_2;
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_panic) == 1008, "it is in retained memory and in core files");

/* clang-format off */
/* In the order of registers[]: X-macro R(name). */
#define KYMO_PANIC_MACHINE_ARM 40
#define KYMO_REGISTERS_ARM(R) \
    R(r0) R(r1) R(r2) R(r3) R(r4) R(r5) R(r6) R(r7) R(r8) R(r9) R(r10) R(r11) R(r12) \
    R(sp) R(lr) R(pc) R(xpsr) R(cfsr) R(hfsr) R(mmfar) R(bfar)

#define KYMO_PANIC_MACHINE_AARCH64 183
#define KYMO_REGISTERS_AARCH64(R) \
    R(x0) R(x1) R(x2) R(x3) R(x4) R(x5) R(x6) R(x7) R(x8) R(x9) R(x10) R(x11) R(x12) R(x13) \
    R(x14) R(x15) R(x16) R(x17) R(x18) R(x19) R(x20) R(x21) R(x22) R(x23) R(x24) R(x25) R(x26) \
    R(x27) R(x28) R(x29) R(x30) R(sp) R(pc) R(psr) R(esr) R(far)

#define KYMO_PANIC_MACHINE_X86_64 62
#define KYMO_REGISTERS_X86_64(R) \
    R(rax) R(rcx) R(rdx) R(rbx) R(rsp) R(rbp) R(rsi) R(rdi) R(r8) R(r9) R(r10) R(r11) R(r12) \
    R(r13) R(r14) R(r15) R(rip) R(rflags) R(vector) R(error) R(cr2)
/* clang-format on */

enum kymo_panic_arm {
#define REGISTER(name) KYMO_PANIC_ARM_##name,
    KYMO_REGISTERS_ARM(REGISTER) KYMO_PANIC_ARM_COUNT
#undef REGISTER
};

enum kymo_panic_aarch64 {
#define REGISTER(name) KYMO_PANIC_AARCH64_##name,
    KYMO_REGISTERS_AARCH64(REGISTER) KYMO_PANIC_AARCH64_COUNT
#undef REGISTER
};

enum kymo_panic_x86_64 {
#define REGISTER(name) KYMO_PANIC_X86_64_##name,
    KYMO_REGISTERS_X86_64(REGISTER) KYMO_PANIC_X86_64_COUNT
#undef REGISTER
};
KYMO_STATIC_ASSERT((int)KYMO_PANIC_AARCH64_COUNT <= KYMO_PANIC_REGISTERS &&
                       (int)KYMO_PANIC_ARM_COUNT <= KYMO_PANIC_REGISTERS &&
                       (int)KYMO_PANIC_X86_64_COUNT <= KYMO_PANIC_REGISTERS,
                   "room for the registers");

#endif

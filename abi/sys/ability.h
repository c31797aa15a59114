/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Abilities: privileges of a process beyond those that every process has. A process gets them when
 * it is spawned (start script: `ability=trace,host`) and can give a child only abilities that it
 * has.
 *
 * X-macro: ABILITY(bit, NAME, "script name", "what it allows")
 */
#ifndef ABI_SYS_ABILITY_H
#define ABI_SYS_ABILITY_H

#define ABILITY_LIST(ABILITY) \
    ABILITY(0, TRACE, "trace", "TraceEvent control commands, mapping the trace buffers") \
    ABILITY(1, DEVICE, "device", "mapping device memory") \
    ABILITY(2, INTERRUPT, "interrupt", "attaching, masking and unmasking interrupts") \
    ABILITY(3, HOST, "host", "files on the host by semihosting") \
    ABILITY(4, RESET, "reset", "shutting down or resetting the machine") \
    ABILITY(5, SPAWN, "spawn", "spawning processes") \
    ABILITY(6, KILL, "kill", "ending processes that are not its children") \
    ABILITY(7, PRIORITY, "priority", "priorities above 63") \
    ABILITY(8, CLOCK, "clock", "setting the time of day") \
    ABILITY(9, MEMORY, "memory", "making memory objects, which outlive their maker") \
    ABILITY(10, DTRACE_USER, "dtrace_user", \
            "D: the system calls and samples of itself and of programs that it started") \
    ABILITY(11, DTRACE_KERNEL, "dtrace_kernel", "D: all probes; reading all memory") \
    ABILITY(12, DTRACE_DESTRUCTIVE, "dtrace_destructive", \
            "D: raise(), copyout(); with dtrace_kernel panic(), breakpoint(), chill()")

enum ability {
#define ABILITY(bit, name, text, doc) ABILITY_##name = 1 << (bit),
    ABILITY_LIST(ABILITY)
#undef ABILITY
#define ABILITY(bit, name, text, doc) | 1 << (bit)
        ABILITY_EVERY = 0 ABILITY_LIST(ABILITY),
#undef ABILITY
    /* A process with any of these may use the last entries of the kernel's tables and the last RAM
     * (abi/sys/quota.h): drivers, recorders, and processes that may end others which use them
     * up. */
    ABILITY_RESERVE =
        ABILITY_TRACE | ABILITY_DEVICE | ABILITY_INTERRUPT | ABILITY_RESET | ABILITY_KILL
};

#endif

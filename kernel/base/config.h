/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sizes of the kernel's tables. A board's board.mk may set any of them with -D; where it says that
 * tables grow with RAM (kernel/base/table.h), these are the maxima. No table has more entries after
 * boot than these, so a full table is always reported as an errno (EAGAIN); where a table's entries
 * are allocated as needed, so is a lack of memory for an entry.
 */
#ifndef KERNEL_BASE_CONFIG_H
#define KERNEL_BASE_CONFIG_H

#include <stdint.h>

#ifndef CONFIG_CPUS
#define CONFIG_CPUS 1 /* most CPUs; 1 leaves the spin lock and cross-calls empty */
#endif
/* Amount of RAM from which on tables that grow with RAM have all their entries. */
#ifndef CONFIG_TABLES_RAM
#define CONFIG_TABLES_RAM 268435456
#endif
/* Tables whose entries are allocated at their first use take memory in multiples of this size,
 * which is a multiple of phys_granule(). */
#ifndef CONFIG_TABLE_PIECE
#define CONFIG_TABLE_PIECE 256u
#endif
/* RAM from this address on is for programs whose data is linked to a fixed address; tables don't
 * use it. */
#ifndef CONFIG_PLACED_RAM
#define CONFIG_PLACED_RAM UINTPTR_MAX
#endif
#ifndef CONFIG_PROCESSES
#define CONFIG_PROCESSES 20
#endif
#ifndef CONFIG_THREADS
#define CONFIG_THREADS 48
#endif
#ifndef CONFIG_THREADS_PER_PROCESS
#define CONFIG_THREADS_PER_PROCESS 16
#endif
#ifndef CONFIG_CHANNELS
#define CONFIG_CHANNELS 32
#endif
#ifndef CONFIG_CHANNELS_PER_PROCESS
#define CONFIG_CHANNELS_PER_PROCESS 8
#endif
#ifndef CONFIG_CONNECTIONS
#define CONFIG_CONNECTIONS 96
#endif
#ifndef CONFIG_CONNECTIONS_PER_PROCESS
/* per process, for file descriptors and for side channels each */
#define CONFIG_CONNECTIONS_PER_PROCESS 16
#endif
/* Depth to which an inherited priority is passed on (client of a client of …): bounds the kernel
 * stack. Deeper chains keep the priority they had. */
#ifndef CONFIG_INHERIT_DEPTH
#define CONFIG_INHERIT_DEPTH 8
#endif
/* D's defaults, in bytes: per CPU (of each of two buffers), per CPU, per speculation and CPU, of
 * all variables, of a string. For bufsize, aggsize and dynvarsize the default is also the minimum:
 * kernel/dtrace/call.c. */
#ifndef CONFIG_D_BUFSIZE
#define CONFIG_D_BUFSIZE (256 * 1024)
#endif
#ifndef CONFIG_D_AGGSIZE
#define CONFIG_D_AGGSIZE (256 * 1024)
#endif
#ifndef CONFIG_D_SPECSIZE
#define CONFIG_D_SPECSIZE (32 * 1024)
#endif
#ifndef CONFIG_D_DYNVARSIZE
#define CONFIG_D_DYNVARSIZE (256 * 1024)
#endif
/* D's small blocks are allocated from chunks of this many bytes, a power of 2. */
#ifndef CONFIG_D_CHUNK
#define CONFIG_D_CHUNK 4096u
#endif
/* The most instructions that a D program may add to a firing of one probe (docs/inside/machine.md:
 * steps, where they were not counted); 0: no limit. The start script can lower it: dlimit. */
#ifndef CONFIG_D_MAX_COST
#define CONFIG_D_MAX_COST 0
#endif
#ifndef CONFIG_D_CONSUMERS
#define CONFIG_D_CONSUMERS 16 /* of all processes and of the boot script */
#endif
#ifndef CONFIG_D_GONE
#define CONFIG_D_GONE 16 /* processes that have ended whose programs D still knows */
#endif
/* Whether D runs helpers, by which programs name their own stack frames: HELPERS in board.mk. */
#ifndef CONFIG_D_HELPERS
#define CONFIG_D_HELPERS 1
#endif
#ifndef CONFIG_D_STRSIZE
#define CONFIG_D_STRSIZE 256
#endif
#ifndef CONFIG_PULSES
#define CONFIG_PULSES 96 /* queued pulses that programs sent, in the whole system */
#endif
#ifndef CONFIG_TIMERS
#define CONFIG_TIMERS 32
#endif
/* Timers of one process: those that expire while threads of higher priority run cost these some
 * hundred instructions each. */
#ifndef CONFIG_TIMERS_PER_PROCESS
#define CONFIG_TIMERS_PER_PROCESS 32
#endif
/* Shortest period of a timer: for any process, and for processes with ABILITY_PRIORITY. */
#ifndef CONFIG_TIMER_MIN_US
#define CONFIG_TIMER_MIN_US 100
#endif
#ifndef CONFIG_TIMER_MIN_ABLE_US
#define CONFIG_TIMER_MIN_ABLE_US 20
#endif
#ifndef CONFIG_INTERRUPT_ATTACHMENTS
#define CONFIG_INTERRUPT_ATTACHMENTS 16
#endif
/* Crash reports that can be under way or wait to be printed: docs/reference/security.md. */
#ifndef CONFIG_CRASH_REPORTS
#define CONFIG_CRASH_REPORTS 4
#endif
/* Bytes of kernel output kept for a console server that starts later; a power of 2. */
#ifndef CONFIG_CONSOLE_KEPT
#define CONFIG_CONSOLE_KEPT 2048u
#endif
/* Defaults for a program whose spawn sets none, in bytes: the main thread's stack, and the heap. */
#ifndef CONFIG_STACK
#define CONFIG_STACK (sizeof(void *) == 4 ? 4096u : 65536u)
#endif
#ifndef CONFIG_HEAP
#define CONFIG_HEAP (sizeof(void *) == 4 ? 16384u : 1048576u)
#endif
#ifndef CONFIG_NAMES
#define CONFIG_NAMES 16
#endif
#ifndef CONFIG_OBJECTS
#define CONFIG_OBJECTS 8 /* memory objects, at most 127 */
#endif
#ifndef CONFIG_OBJECTS_PER_PROCESS
#define CONFIG_OBJECTS_PER_PROCESS 8 /* that a process can have open */
#endif
#ifndef CONFIG_MAPPINGS
#define CONFIG_MAPPINGS 12 /* per process, at most 65535 */
#endif
#ifndef CONFIG_MAPPINGS_FIRST
/* mappings for which a process has room in itself; further ones need RAM */
#define CONFIG_MAPPINGS_FIRST (CONFIG_MAPPINGS < 12 ? CONFIG_MAPPINGS : 12)
#endif
/* Quotas (kernel/base/quota.h): the share of a table and of RAM that is reserved for processes with
 * ABILITY_RESERVE; the share of the rest that is the default limit of a process. */
#ifndef CONFIG_RESERVE_PERCENT
#define CONFIG_RESERVE_PERCENT 12
#endif
#ifndef CONFIG_QUOTA_PERCENT
#define CONFIG_QUOTA_PERCENT 50
#endif
#ifndef CONFIG_GROUPS
#define CONFIG_GROUPS 4 /* groups of processes with limits of their own */
#endif
#ifndef CONFIG_GROUP_DEPTH
#define CONFIG_GROUP_DEPTH 4 /* nesting depth of groups: bounds the cost of a charge */
#endif
#ifndef CONFIG_RR_QUANTUM_MS
#define CONFIG_RR_QUANTUM_MS 4
#endif
#ifndef CONFIG_CLEAR_CHUNK
#define CONFIG_CLEAR_CHUNK \
    4096 /* bytes cleared, or synced as text, between two preemption points */
#endif
/* The number of threads that one step of a call, or of a thread's end, handles: threads woken from
 * synchronization objects; threads tested for being clients of a server's thread. */
#ifndef CONFIG_SYNC_AT_ONCE
#define CONFIG_SYNC_AT_ONCE 4
#endif
#ifndef CONFIG_FORGET_AT_ONCE
#define CONFIG_FORGET_AT_ONCE 32
#endif
#ifndef CONFIG_COPY_CHUNK
#define CONFIG_COPY_CHUNK 4096 /* bytes copied between two preemption points */
#endif

#endif

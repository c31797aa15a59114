/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A QEMU TCG plugin that writes down every instruction a guest executes between two marker no-ops.
 * QEMU loads it (-plugin count.so,out=FILE); test/bench/bench reads the file and counts.
 *
 * Markers: Thumb `dbg #n`, A64 `hint #0x70+n`, x86-64 `nopl 0x70+n(%rax)`; n even opens interval
 * n/2, n odd closes it. For each closed interval one record: u32 interval, u32 number of
 * instructions, then their addresses (u64). The markers themselves are not in it. Only one interval
 * at a time, only on one CPU: with cpu=N what other CPUs execute is left out.
 *
 * With masked=on, of an interval only the longest stretch in the kernel is recorded: instructions
 * at kernel addresses (bit 63, or those of kernel=BEGIN:END) without a break. A function at whose
 * entry interrupts are served, or other threads may get the CPU, ends a stretch: window=ADDRESS, up
 * to WINDOWS of them. A second record, of interval + 8, has the longest stretch between a Thumb
 * instruction that masks interrupts (`cpsid i`, a write of BASEPRI_MAX) and the one that undoes it,
 * both included. With leave=ADDRESS, up to LEAVES of them, two more, of interval + 16 and
 * interval + 24, are the same without the stretches in which such an instruction was executed.
 */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/bench/plugin.h"

int qemu_plugin_version = 1;

/* ---- recording --------------------------------------------------------------------- */

#define MOST 2000000u /* instructions of one interval; more are counted, not kept */

#define EVERY_CPU UINT_MAX
#define WINDOWS 4
#define LEAVES 2

struct stretch {
    uint32_t count, longest_count;
    uint64_t pcs[MOST], longest[MOST];
};

/* The longest of all, and of those without the instruction to leave out. */
struct stretches {
    struct stretch all, without;
};

static FILE *out;
static int open_interval = -1;
static struct stretches any, closed; /* what is counted; with interrupts masked by an instruction */
static unsigned depth;               /* so many instructions that mask interrupts are not undone */
static bool masked_only;
static unsigned only_cpu = EVERY_CPU;
static bool left_out; /* an instruction to leave out was executed in this stretch */
static uint64_t windows[WINDOWS], leaves[LEAVES], kernel_begin = UINT64_C(1) << 63,
                                                  kernel_end = UINT64_MAX;
static unsigned nwindows, nleaves;

static bool left_out_cpu(unsigned vcpu)
{
    return only_cpu != EVERY_CPU && vcpu != only_cpu;
}

static void stretch_add(struct stretch *stretch, uint64_t pc)
{
    if (stretch->count < MOST) {
        stretch->pcs[stretch->count] = pc;
    }
    stretch->count++;
}

static void stretches_add(struct stretches *s, uint64_t pc)
{
    stretch_add(&s->all, pc);
    if (nleaves > 0 && !left_out) {
        stretch_add(&s->without, pc);
    }
}

/* Ends a stretch: keeps it if it is the longest. */
static void stretch_end(struct stretch *stretch)
{
    if (stretch->count > stretch->longest_count) {
        stretch->longest_count = stretch->count;
        memcpy(stretch->longest, stretch->pcs,
               (stretch->count < MOST ? stretch->count : MOST) * sizeof(stretch->pcs[0]));
    }
    stretch->count = 0;
}

static void stretches_end(struct stretches *s)
{
    if (left_out) {
        s->without.count = 0;
    }
    stretch_end(&s->without);
    stretch_end(&s->all);
}

static void stretches_begin(struct stretches *s)
{
    s->all.count = s->all.longest_count = 0;
    s->without.count = s->without.longest_count = 0;
}

static bool ends_stretch(uint64_t pc)
{
    bool ends = pc < kernel_begin || pc >= kernel_end;

    for (unsigned i = 0; i < nwindows; i++) {
        ends |= pc == windows[i];
    }
    return ends;
}

static void executed(unsigned int vcpu, void *pc)
{
    if (open_interval < 0 || left_out_cpu(vcpu)) {
        return;
    }
    for (unsigned i = 0; i < nleaves; i++) {
        left_out |= (uint64_t)(uintptr_t)pc == leaves[i];
    }
    if (masked_only && ends_stretch((uint64_t)(uintptr_t)pc)) {
        stretches_end(&any);
        left_out = false;
    } else {
        stretches_add(&any, (uint64_t)(uintptr_t)pc);
    }
    if (depth > 0) {
        stretches_add(&closed, (uint64_t)(uintptr_t)pc);
    }
}

static void masks(unsigned int vcpu, void *pc)
{
    if (depth++ == 0 && open_interval >= 0) { /* else executed() has counted it */
        stretches_add(&closed, (uint64_t)(uintptr_t)pc);
    }
    (void)vcpu;
}

static void unmasks(unsigned int vcpu, void *pc)
{
    (void)vcpu;
    (void)pc;
    depth -= depth > 0;
    if (depth == 0) {
        stretches_end(&closed);
    }
}

static void write_record(uint32_t interval, uint32_t count, const uint64_t *pcs)
{
    uint32_t head[2] = {interval, count < MOST ? count : MOST};

    fwrite(head, sizeof(head), 1, out);
    fwrite(pcs, sizeof(pcs[0]), head[1], out);
}

static void write_longest(uint32_t apart, const struct stretch *stretch)
{
    write_record((uint32_t)open_interval + apart, stretch->longest_count, stretch->longest);
}

static void write_interval(void)
{
    if (!masked_only) {
        write_record((uint32_t)open_interval, any.all.count, any.all.pcs);
        return;
    }
    stretches_end(&closed);
    stretches_end(&any);
    write_longest(0, &any.all);
    write_longest(8, &closed.all);
    if (nleaves > 0) {
        write_longest(16, &any.without);
        write_longest(24, &closed.without);
    }
}

static void marked(unsigned int vcpu, void *number)
{
    int n = (int)(uintptr_t)number;

    if (left_out_cpu(vcpu)) {
        return;
    }
    if (n % 2 == 0) {
        open_interval = n / 2;
        stretches_begin(&any);
        stretches_begin(&closed);
        left_out = false;
        depth = 0; /* a program runs; the machine may have been reset amid what masked */
    } else if (open_interval == n / 2) {
        write_interval();
        open_interval = -1;
    }
}

/* 1 if a Thumb instruction masks interrupts, -1 if it undoes that, else 0. */
static int masking(const struct qemu_plugin_insn *insn)
{
    const uint8_t *data = qemu_plugin_insn_data(insn);
    uint16_t half[2] = {0, 0};

    memcpy(half, data, qemu_plugin_insn_size(insn) < 4 ? 2 : 4);
    if (half[0] == 0xb672 || ((half[0] & 0xfff0) == 0xf380 && half[1] == 0x8812)) {
        return 1;
    }
    bool writes = (half[0] & 0xfff0) == 0xf380 && (half[1] == 0x8810 || half[1] == 0x8811);

    return writes || half[0] == 0xb662 ? -1 : 0;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        int n = marker(insn);

        if (n >= 0) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, 0, (void *)(uintptr_t)n);
        } else {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, 0,
                                                   (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
        }
        int change = masked_only && kernel_end != UINT64_MAX ? masking(insn) : 0;
        if (change != 0) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, change > 0 ? masks : unmasks, 0,
                                                   (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
        }
    }
}

static void at_exit(qemu_plugin_id_t id, void *unused)
{
    (void)id;
    (void)unused;
    if (fclose(out) != 0) {
        perror("count.so");
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0) {
            out = fopen(argv[i] + 4, "wb");
        } else if (strcmp(argv[i], "masked=on") == 0) {
            masked_only = true;
        } else if (strncmp(argv[i], "cpu=", 4) == 0) {
            only_cpu = (unsigned)strtoul(argv[i] + 4, NULL, 0);
        } else if (strncmp(argv[i], "kernel=", 7) == 0) {
            char *rest;

            kernel_begin = strtoull(argv[i] + 7, &rest, 0);
            kernel_end = *rest == ':' ? strtoull(rest + 1, NULL, 0) : 0;
        } else if (strncmp(argv[i], "leave=", 6) == 0 && nleaves < LEAVES) {
            leaves[nleaves++] = strtoull(argv[i] + 6, NULL, 0);
        } else if (strncmp(argv[i], "window=", 7) == 0 && nwindows < WINDOWS) {
            windows[nwindows++] = strtoull(argv[i] + 7, NULL, 0);
        }
    }
    if (out == NULL) {
        fprintf(stderr, "count.so: needs out=FILE\n");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}

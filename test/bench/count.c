/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A QEMU TCG plugin that writes down every instruction a guest executes between two marker no-ops.
 * QEMU loads it (-plugin count.so,out=FILE); test/bench/bench reads the file and counts.
 *
 * Markers: Thumb `dbg #n`, A64 `hint #0x70+n`; n even opens interval n/2, n odd closes it. For each
 * closed interval one record: u32 interval, u32 number of instructions, then their addresses (u64).
 * The markers themselves are not in it. Only one interval at a time, only on one CPU.
 *
 * With masked=on, of an interval only the longest stretch with interrupts masked is recorded, for a
 * kernel that masks them from entry to exit: instructions at kernel addresses (bit 63) without a
 * break. A function at whose entry interrupts are served ends a stretch: window=ADDRESS, up to
 * WINDOWS of them.
 */
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

#define WINDOWS 4

static FILE *out;
static int open_interval = -1;
static uint32_t count, longest_count;
static uint64_t pcs[MOST], longest[MOST];
static bool masked_only;
static uint64_t windows[WINDOWS];
static unsigned nwindows;

/* Ends a stretch: keeps it if it is the longest. */
static void stretch_end(void)
{
    if (count > longest_count) {
        longest_count = count;
        memcpy(longest, pcs, (count < MOST ? count : MOST) * sizeof(pcs[0]));
    }
    count = 0;
}

static bool ends_stretch(uint64_t pc)
{
    bool ends = !(pc >> 63);

    for (unsigned i = 0; i < nwindows; i++) {
        ends |= pc == windows[i];
    }
    return ends;
}

static void executed(unsigned int vcpu, void *pc)
{
    (void)vcpu;
    if (open_interval >= 0 && masked_only && ends_stretch((uint64_t)(uintptr_t)pc)) {
        stretch_end();
    } else if (open_interval >= 0) {
        if (count < MOST) {
            pcs[count] = (uint64_t)(uintptr_t)pc;
        }
        count++;
    }
}

static void write_interval(void)
{
    if (masked_only) {
        stretch_end();
        count = longest_count;
        longest_count = 0;
    }
    uint32_t head[2] = {(uint32_t)open_interval, count < MOST ? count : MOST};

    fwrite(head, sizeof(head), 1, out);
    fwrite(masked_only ? longest : pcs, sizeof(pcs[0]), head[1], out);
}

static void marked(unsigned int vcpu, void *number)
{
    int n = (int)(uintptr_t)number;

    (void)vcpu;
    if (n % 2 == 0) {
        open_interval = n / 2;
        count = 0;
    } else if (open_interval == n / 2) {
        write_interval();
        open_interval = -1;
    }
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

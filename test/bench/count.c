/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A QEMU TCG plugin that writes down every instruction a guest executes between two marker no-ops.
 * QEMU loads it (-plugin count.so,out=FILE); test/bench/bench reads the file and counts.
 *
 * Markers: Thumb `dbg #n`, A64 `hint #0x70+n`; n even opens interval n/2, n odd closes it. For each
 * closed interval one record: u32 interval, u32 number of instructions, then their addresses (u64).
 * The markers themselves are not in it. Only one interval at a time, only on one CPU.
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

static FILE *out;
static int open_interval = -1;
static uint32_t count;
static uint64_t pcs[MOST];

static void executed(unsigned int vcpu, void *pc)
{
    (void)vcpu;
    if (open_interval >= 0) {
        if (count < MOST) {
            pcs[count] = (uint64_t)(uintptr_t)pc;
        }
        count++;
    }
}

static void write_interval(void)
{
    uint32_t head[2] = {(uint32_t)open_interval, count < MOST ? count : MOST};

    fwrite(head, sizeof(head), 1, out);
    fwrite(pcs, sizeof(pcs[0]), head[1], out);
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

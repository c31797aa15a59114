/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A QEMU TCG plugin that counts how often each instruction is executed between two marker no-ops:
 * as count.c, which keeps their order, but for as many as there are. `-plugin sums.so,out=FILE`;
 * read by test/board/samples.py. At the end it writes, of each interval and address, three u64:
 * interval, address, count.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/bench/plugin.h"

int qemu_plugin_version = 1;

/* ---- counting ---------------------------------------------------------------------- */

#define MOST (1u << 18) /* addresses, a power of two */
#define INTERVALS 8

static struct place {
    uint64_t at;      /* address + 1; 0: free */
    uint64_t now;     /* executed so far */
    uint64_t at_open; /* when the interval was opened */
    uint64_t in[INTERVALS];
} places[MOST];
static FILE *out;

static struct place *place_of(uint64_t at)
{
    unsigned i = (unsigned)(at >> 1) * 2654435761u % MOST;

    while (places[i].at && places[i].at != at + 1) {
        i = (i + 1) % MOST; /* a board has far fewer instructions */
    }
    places[i].at = at + 1;
    return &places[i];
}

static void marked(unsigned int vcpu, void *number)
{
    unsigned n = (unsigned)(uintptr_t)number;

    (void)vcpu;
    for (unsigned i = 0; i < MOST; i++) {
        struct place *p = &places[i];
        if (n % 2) {
            p->in[n / 2] += p->now - p->at_open;
        } else {
            p->at_open = p->now;
        }
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
            qemu_plugin_register_vcpu_insn_exec_inline(
                insn, QEMU_PLUGIN_INLINE_ADD_U64, &place_of(qemu_plugin_insn_vaddr(insn))->now, 1);
        }
    }
}

static void at_exit(qemu_plugin_id_t id, void *unused)
{
    (void)id;
    (void)unused;
    for (unsigned i = 0; i < MOST; i++) {
        for (uint64_t interval = 0; interval < INTERVALS; interval++) {
            if (places[i].in[interval]) {
                uint64_t words[3] = {interval, places[i].at - 1, places[i].in[interval]};
                fwrite(words, sizeof(words), 1, out);
            }
        }
    }
    if (fclose(out) != 0) {
        perror("sums.so");
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
        fprintf(stderr, "sums.so: needs out=FILE\n");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}

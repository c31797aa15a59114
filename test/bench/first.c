/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A QEMU TCG plugin that counts the instructions of the first CPU from the kernel's first one to a
 * program's first one. `-plugin first.so,from=LOW:HIGH,to=LOW:HIGH,out=FILE`: it begins at the
 * first instruction at one of the addresses `from`, and ends before the first one at `to`, or, with
 * `outside=LOW:HIGH`, before the first one that is not there. Hexadecimal; the file has the number.
 * Read by test/bench/boards.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/bench/plugin.h"

int qemu_plugin_version = 1;

static struct range {
    uint64_t low, high;
} from, to, outside;
static const char *out;
static uint64_t count;
static enum { FIRMWARE, KERNEL, PROGRAM } at = FIRMWARE;

static bool in(const struct range *r, uint64_t address)
{
    return address >= r->low && address < r->high;
}

static void executed(unsigned int vcpu, void *address)
{
    const uint64_t pc = (uintptr_t)address;

    if (vcpu != 0 || at == PROGRAM) {
        return;
    }
    if (at == FIRMWARE && in(&from, pc)) {
        at = KERNEL;
    }
    if (at == KERNEL && (in(&to, pc) || (outside.high && !in(&outside, pc)))) {
        at = PROGRAM;
    }
    count += at == KERNEL;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; at != PROGRAM && i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, 0,
                                               (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
    }
}

static void at_exit(qemu_plugin_id_t id, void *unused)
{
    FILE *f = fopen(out, "w");

    (void)id;
    (void)unused;
    if (!f || fprintf(f, "%" PRIu64 "\n", at == PROGRAM ? count : 0) < 0 || fclose(f) != 0) {
        perror("first.so");
    }
}

static bool read_range(const char *text, struct range *r)
{
    char *end;

    r->low = strtoull(text, &end, 16);
    r->high = *end == ':' ? strtoull(end + 1, &end, 16) : 0;
    return *end == '\0' && r->high > r->low;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    bool good = true;

    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "from=", 5) == 0) {
            good &= read_range(argv[i] + 5, &from);
        } else if (strncmp(argv[i], "to=", 3) == 0) {
            good &= read_range(argv[i] + 3, &to);
        } else if (strncmp(argv[i], "outside=", 8) == 0) {
            good &= read_range(argv[i] + 8, &outside);
        } else if (strncmp(argv[i], "out=", 4) == 0) {
            out = argv[i] + 4;
        } else {
            good = false;
        }
    }
    if (!good || !out || !from.high || !(to.high || outside.high)) {
        fprintf(stderr, "first.so: needs from=LOW:HIGH, to= or outside=, out=FILE\n");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}

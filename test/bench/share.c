/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A QEMU TCG plugin that counts the instructions a guest executes, by whose they are: each block of
 * a program's text is the program's, each of the kernel's is that of the program that ran on that
 * CPU last; of the kernel's, those of the tracing apart. `-plugin share.so,ranges=FILE,out=FILE`;
 * see test/bench/sustained. Lines of ranges: `KIND FIRST AFTER`, hexadecimal; kind 0 is tracing,
 * 1 to 7 are programs. Other programs, at other addresses, are 0. Needs -icount: one host thread.
 *
 * A block that an exception leaves in its middle counts whole: some instructions in a million.
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

#define RANGES 512
#define PROGRAMS 8
#define CPUS 64
enum { USER, KERNEL, TRACING, PARTS };

static struct range {
    unsigned kind;
    uint64_t first, after;
} ranges[RANGES];
static unsigned count;
static uint64_t executed[PROGRAMS][PARTS];
static unsigned last[CPUS]; /* the program on it */
static const char *out;

/* What a block is, in a word: instructions, part, program. */
static uintptr_t block_word(uint64_t at, size_t instructions)
{
    bool kernel = at >> 63;
    uintptr_t part = kernel ? KERNEL : USER, program = 0;

    for (unsigned i = 0; i < count; i++) {
        if (at >= ranges[i].first && at < ranges[i].after) {
            part = kernel ? TRACING : USER;
            program = ranges[i].kind;
        }
    }
    return (uintptr_t)instructions << 8 | part << 4 | program;
}

static void run(unsigned int vcpu, void *word)
{
    uintptr_t block = (uintptr_t)word, part = block >> 4 & 15;

    if (part == USER) {
        last[vcpu % CPUS] = block & (PROGRAMS - 1);
    }
    executed[last[vcpu % CPUS]][part] += block >> 8;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    uintptr_t word = block_word(qemu_plugin_tb_vaddr(tb), qemu_plugin_tb_n_insns(tb));

    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, run, 0, (void *)word);
}

static void at_exit(qemu_plugin_id_t id, void *unused)
{
    FILE *f = fopen(out, "w");

    (void)id;
    (void)unused;
    for (unsigned i = 0; f && i < PROGRAMS; i++) {
        fprintf(f, "%u %llu %llu %llu\n", i, (unsigned long long)executed[i][USER],
                (unsigned long long)executed[i][KERNEL], (unsigned long long)executed[i][TRACING]);
    }
    if (!f || fclose(f) != 0) {
        perror(out);
    }
}

static bool read_ranges(const char *path)
{
    FILE *f = fopen(path, "r");
    unsigned long long first, after;

    if (!f) {
        return false;
    }
    while (count < RANGES && fscanf(f, "%u %llx %llx", &ranges[count].kind, &first, &after) == 3) {
        ranges[count].first = first;
        ranges[count++].after = after;
    }
    fclose(f);
    return count > 0 && count < RANGES;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    bool good = false;

    (void)info;
    for (int i = 0; i < argc; i++) {
        good |= strncmp(argv[i], "ranges=", 7) == 0 && read_ranges(argv[i] + 7);
        out = strncmp(argv[i], "out=", 4) == 0 ? strdup(argv[i] + 4) : out;
    }
    if (!good || !out) {
        fprintf(stderr, "share.so: needs ranges=FILE and out=FILE\n");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}

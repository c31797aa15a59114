/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A QEMU TCG plugin that counts how often each instruction is executed between two marker no-ops:
 * as count.c, which keeps their order, but for as many as there are. `-plugin sums.so,out=FILE`;
 * read by test/boot/samples.py. At the end it writes, of each interval and address, three u64:
 * interval, address, count.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- QEMU plugin API, version 1: see count.c --------------------------------------------------
 */

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
typedef void (*tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*insn_exec_cb)(unsigned int vcpu, void *userdata);
typedef void (*exit_cb)(qemu_plugin_id_t id, void *userdata);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_cb cb);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, insn_exec_cb cb,
                                            int flags, void *userdata);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
                                                enum qemu_plugin_op op, void *ptr, uint64_t imm);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_cb cb, void *userdata);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

int qemu_plugin_version = 1;
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

/* ---- counting ---------------------------------------------------------------------------------
 */

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

/* Number of the marker, or -1. */
static int marker(const struct qemu_plugin_insn *insn)
{
    const uint8_t *data = qemu_plugin_insn_data(insn);
    uint32_t word;

    if (qemu_plugin_insn_size(insn) < 4) {
        return -1;
    }
    memcpy(&word, data, sizeof(word));
    if ((word & 0xfff0ffffu) == 0x80f0f3afu) { /* Thumb: f3af 80fn, two halfwords */
        return (int)(word >> 16 & 0xf);
    }
    if ((word & 0xfffff01fu) == 0xd503201fu) { /* A64 hint #imm, imm in bits 11-5 */
        uint32_t imm = word >> 5 & 0x7f;

        return imm >= 0x70 ? (int)(imm - 0x70) : -1;
    }
    return -1;
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

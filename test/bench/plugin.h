/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QEMU's plugin API, version 1, for the plugins of this folder, and which instruction is a marker.
 * Debian packages no qemu-plugin.h, so what is used is declared by hand, as the API's documentation
 * gives it.
 */
#ifndef TEST_BENCH_PLUGIN_H
#define TEST_BENCH_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
typedef void (*tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*tb_exec_cb)(unsigned int vcpu, void *userdata);
typedef void (*insn_exec_cb)(unsigned int vcpu, void *userdata);
typedef void (*exit_cb)(qemu_plugin_id_t id, void *userdata);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, tb_exec_cb cb, int flags,
                                          void *userdata);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, insn_exec_cb cb,
                                            int flags, void *userdata);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
                                                enum qemu_plugin_op op, void *ptr, uint64_t imm);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_cb cb, void *userdata);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

/* What QEMU looks for in a plugin. */
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

/* Number of the marker (mark.h) that an instruction is, or -1. */
static inline int marker(const struct qemu_plugin_insn *insn)
{
    const uint8_t *data = qemu_plugin_insn_data(insn);
    uint32_t word;

    /* At a page's end QEMU 7.2 may hand 6 bytes for a 4-byte Thumb instruction. */
    if (qemu_plugin_insn_size(insn) < 4) {
        return -1;
    }
    memcpy(&word, data, sizeof(word));
    if ((word & 0xfff0ffffu) == 0x80f0f3afu) { /* Thumb: f3af 80fn, two halfwords */
        return (int)(word >> 16 & 0xf);
    }
    if ((word & 0xf0ffffffu) == 0x70401f0fu) { /* x86-64: nopl 0x70+n(%rax) */
        return (int)(word >> 24 & 0xf);
    }
    if ((word & 0xfffff01fu) == 0xd503201fu) { /* A64 hint #imm, imm in bits 11-5 */
        uint32_t imm = word >> 5 & 0x7f;

        return imm >= 0x70 ? (int)(imm - 0x70) : -1;
    }
    return -1;
}

#endif

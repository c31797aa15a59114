/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies between the kernel and user memory, which may span several mappings. Kernel lock held.
 * -EFAULT, with nothing copied, if any byte is not the process's own with the required right.
 * Tested by test/kernel/mem/memory_test.c and test/board's wrong-argument runs.
 */
#include "abi/compiler.h"
#include "abi/errno.h"
#include "kernel/arch/cpu.h"
#include "kernel/base/cpu.h"
#include "kernel/proc/proc.h"
#include "kernel/base/string.h"

bool vm_user_ok(struct process *proc, uintptr_t addr, size_t len, unsigned prot)
{
    while (len > 0) {
        size_t n = len;
        if (!vm_user_span(proc, addr, &n, prot)) {
            return false;
        }
        addr += n;
        len -= n;
    }
    return true;
}

/* Called with the lock held, or for the process's own call. */
static int copy_in_now(struct process *proc, void *dst, uintptr_t src, size_t len)
{
    const void *whole = vm_user_ptr(proc, src, len, KYMO_PROT_READ);
    char *to = dst;

    if (whole) {
        memcpy(dst, whole, len);
        return 0;
    }
    if (!vm_user_ok(proc, src, len, KYMO_PROT_READ)) {
        return -EFAULT;
    }
    while (len > 0) {
        size_t n = len;
        const void *from = vm_user_span(proc, src, &n, KYMO_PROT_READ);
        memcpy(to, from, n);
        to += n;
        src += n;
        len -= n;
    }
    return 0;
}

/* ---- structures that a call's event has read ---------------------------------------------- */

#define STRUCTURES_MOST 2 /* structures that the event of one call reads */

struct copy_kept {
    uintptr_t src;
    size_t len;
    char data[COPY_KEPT];
};

static struct copy_kept kept[CONFIG_CPUS][STRUCTURES_MOST]; /* [c] */

const char *copy_keep(struct process *proc, uintptr_t src, size_t len)
{
    struct cpu *cpu = arch_cpu();

    if (CONFIG_CPUS == 1 || cpu->kept == STRUCTURES_MOST) {
        return NULL;
    }
    struct copy_kept *k = &kept[cpu->id][cpu->kept];
    k->src = src;
    k->len = len < COPY_KEPT ? len : COPY_KEPT;
    if (copy_in_now(proc, k->data, src, k->len) != 0) {
        return NULL;
    }
    cpu->kept++;
    return k->data;
}

/* Copies the bytes that were kept instead of the present contents. */
static __attribute__((noinline)) void copy_in_kept(char *dst, uintptr_t src, size_t len)
{
    const struct cpu *cpu = arch_cpu();

    for (unsigned i = 0; i < cpu->kept; i++) {
        const struct copy_kept *k = &kept[cpu->id][i];
        if (k->src == src) {
            memcpy(dst, k->data, len < k->len ? len : k->len);
        }
    }
}

int copy_in(struct process *proc, void *dst, uintptr_t src, size_t len)
{
    int error = copy_in_now(proc, dst, src, len);

    if (CONFIG_CPUS > 1 && unlikely(arch_cpu()->kept_for == proc) && !error) {
        copy_in_kept(dst, src, len);
    }
    return error;
}

int copy_out(struct process *proc, uintptr_t dst, const void *src, size_t len)
{
    void *whole = vm_user_ptr(proc, dst, len, KYMO_PROT_WRITE);
    const char *from = src;

    if (whole) {
        memcpy(whole, src, len);
        return 0;
    }
    if (!vm_user_ok(proc, dst, len, KYMO_PROT_WRITE)) {
        return -EFAULT;
    }
    while (len > 0) {
        size_t n = len;
        void *to = vm_user_span(proc, dst, &n, KYMO_PROT_WRITE);
        memcpy(to, from, n);
        from += n;
        dst += n;
        len -= n;
    }
    return 0;
}

/* Copies whole words up to the one that has the text's end. Returns the number of bytes copied,
 * none of which is a NUL. Each byte is read once: another thread may change it meanwhile. */
static size_t copy_words_of_text(char *dst, const char *from, size_t n)
{
    const uint32_t ones = 0x01010101u;
    size_t done = 0;

    for (uint32_t word; n - done >= sizeof(word); done += sizeof(word)) {
        __builtin_memcpy(&word, from + done, sizeof(word));
        if ((word - ones) & ~word & (ones << 7)) {
            break;
        }
        __builtin_memcpy(dst + done, &word, sizeof(word));
    }
    return done;
}

long copy_in_string(struct process *proc, char *dst, uintptr_t src, size_t size)
{
    size_t done = 0;

    while (done < size) {
        size_t n = size - done;
        const char *from = vm_user_span(proc, src + done, &n, KYMO_PROT_READ);
        if (!from) {
            return -EFAULT;
        }
        for (size_t word = copy_words_of_text(dst + done, from, n); n > word; word++) {
            char c = from[word];
            dst[done + word] = c;
            if (c == '\0') {
                return (long)(done + word);
            }
        }
        done += n;
    }
    return -ENAMETOOLONG;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames with all that a helper may find in a program that is broken or means harm: t_helper [TAG
 * [ROUNDS]]. Each round calls helped() once for each kind of name below. TAG is one of them: by it
 * two processes of this program are told apart. test/board/helper.py has what each is to become.
 */
#include "test/board/programs/t_helper.h"

#include <kymo_helper.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

KYMO_HELPER("test/board/programs/t_helper.d");

enum { LONG = 8192 };

volatile unsigned helped_sink;
/* What the helper reads by its symbol: this of the text, `loop` of the data. */
const char helped_ring[] = "rings";
static char tag[32], very_long[LONG];
static struct helped chain[3], loop;

/* What is probed: its caller's frame is the one that is named. */
__attribute__((noinline)) void helped_probe(unsigned kind)
{
    helped_sink = kind;
}

/* Its struct is at its stack pointer, see apps/stackvm/vm.c. */
__attribute__((noinline)) static void helped(unsigned kind, const char *name,
                                             const struct helped *next)
{
    volatile struct helped *h = __builtin_alloca(sizeof(*h));

    h->name = name;
    h->next = next;
    h->magic = HELPED_MAGIC;
    helped_probe(kind);
    h->magic = 0;
}

static void round_of_all(void)
{
    const char *const names[] = {
        "plain",
        tag,
        "",
        NULL,
        (const char *)0x10,                  /* below all memory */
        (const char *)(UINTPTR_MAX - 3),     /* the end of the address space */
        (const char *)(UINTPTR_MAX / 2 + 1), /* no address of a process */
        (const char *)0xffff000000000000ul,  /* the kernel's, on AArch64 */
        (const char *)0xffffffff80000000ul,  /* and on x86-64 */
        (const char *)0x09000000,            /* a device */
        very_long,
        "two\nlines\033[2J\001",
        "@beside",
        (const char *)0x400,      /* on Cortex-M: the kernel's text, */
        (const char *)0x20000400, /* its data, */
        (const char *)0x40004000, /* a device, */
        (const char *)0xe000ed00, /* and a register of the CPU */
    };

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        helped(i, names[i], NULL);
    }
    helped(100, "walks", &chain[0]);
    helped(101, helped_ring, &loop);
    helped(102, "walks", (const struct helped *)1);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 2 ? atoi(argv[2]) : 1;

    strncpy(tag, argc > 1 ? argv[1] : "none", sizeof(tag) - 1);
    memset(very_long, 'x', sizeof(very_long)); /* no NUL in it */
    chain[0].next = &chain[1];
    chain[1].next = &chain[2];
    loop.next = &loop;
    for (int i = 0; rounds == 0 || i < rounds; i++) {
        round_of_all();
        if (rounds != 1) {
            usleep(1000);
        }
    }
    return 0;
}

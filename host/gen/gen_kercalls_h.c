/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints abi/sys/kercalls.h: the numbers of kernel calls under QNX's names, from
 * abi/kercalls.def and, for calls that Kymo does not have, host/reader/foreign_events.def.
 * Run by `make docs`; the build checks that the committed header is what this prints. Proved by
 * test/trace/numbers_test.c.
 */
#include <stdio.h>

static const struct {
    unsigned number;
    const char *name;
} calls[] = {
#define KERCALL(number, NAME, ...) {number, #NAME},
#include "abi/kercalls.def"
#undef KERCALL
#define FOREIGN_CALL(number, NAME) {number, #NAME},
#include "host/reader/foreign_events.def"
};

#define QNX_CALLS 100 /* numbers below are QNX's */

int main(void)
{
    fputs(
        "/* SPDX-License-Identifier: BSD-2-Clause */\n"
        "/*\n"
        " * The kernel calls' numbers under QNX's names: the argument of ADDEVENT and its kin for\n"
        " * the classes KERCALL*. Generated from abi/kercalls.def by `make docs`\n"
        " * (host/gen/gen_kercalls_h.c), with the calls that only QNX has.\n"
        " */\n"
        "#ifndef ABI_SYS_KERCALLS_H\n"
        "#define ABI_SYS_KERCALLS_H\n"
        "\n"
        "/* clang-format off */\n",
        stdout);
    for (unsigned number = 0; number < QNX_CALLS; number++) {
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
            if (calls[i].number == number) {
                printf("#define __KER_%s %u\n", calls[i].name, number);
            }
        }
    }
    fputs("/* clang-format on */\n\n#endif\n", stdout);
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints docs/kercalls.md from kernel/abi/kercalls.def and errors.def. Run by `make docs`; the
 * build checks that the committed page is what this prints.
 */
#include "host/gen/gen.h"

struct row {
    unsigned number;
    const char *name, *flags, *args, *enter, *enter_wide, *exit_wide, *doc;
};

#define VAL(name) name
#define IN(name, bytes) in *name
#define OUT(name, bytes) out *name
#define INOUT(name, bytes) inout *name
#define STR(name) str *name
#define MSG(name) msg *name
#define NONE
#define NOLOCK no lock
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
#define A(...) TEXT(__VA_ARGS__)
#define F(n, structure, member, type, name) type name
#define W(n, c_type, type, name) type name
#define ENTER(...) TEXT(__VA_ARGS__)
#define ENTERW(...) TEXT(__VA_ARGS__)
#define EXITW(...) TEXT(__VA_ARGS__)
#define KERCALL(number, name, handler, flags, args, enter, enter_wide, exit_wide, doc) \
    {number, #name, TEXT(flags), args, enter, enter_wide, exit_wide, doc},
/* clang-format off */
static const struct row rows[] = {
#include "kernel/abi/kercalls.def"
};
/* clang-format on */

static const struct {
    const char *call, *errors;
} errors[] = {
#define ERRORS(name, ...) {#name, #__VA_ARGS__},
#include "kernel/abi/errors.def"
};

static const char errors_head[] =
    "\n"
    "## Errors\n"
    "\n"
    "From `kernel/abi/errors.def`: all errors that a call may end with. Tests make each of them\n"
    "happen, and fail on any other. The functions of `<sys/neutrino.h>` return -1 and set "
    "`errno`,\n"
    "their `_r` twins return the negative number. `MsgSend()`'s EIO stands for whatever a server\n"
    "gives to `MsgError()`. ETIMEDOUT is only after `TimerTimeout()`, EINTR only for a thread "
    "that\n"
    "is cancelled.\n"
    "\n"
    "| call | errors |\n"
    "|---|---|\n";

static const char head[] =
    "# Kernel calls\n"
    "\n"
    "Generated from `kernel/abi/kercalls.def` by `make docs`; change the table, not this page.\n"
    "Numbers below 100 are QNX 6.4's, 100 and above are Kymo's own.\n"
    "\n"
    "Arguments: `in`, `out`, `inout` point to memory of a fixed size that the call reads, writes, "
    "or\n"
    "both; `str` to a string; `msg` to a message or an iov array. The rest are values. *No lock*:\n"
    "the call runs without the kernel lock and never blocks.\n"
    "\n"
    "In the trace (class KER_CALL, number, +128 for the return, +256 where a long call lets "
    "others\n"
    "run or a wait is ended from outside: [format.md](format.md)) the enter event has these words, "
    "fast or wide: `a0`... the arguments, `m0`... the first\n"
    "words of the message sent, the rest (with a type as in [events.md](events.md); `E` and `X` "
    "are\n"
    "two words) what the arguments point to. The wide exit has the return value and these words,\n"
    "`r0`... the first words of the message received, the rest what the call stored. The fast "
    "exit\n"
    "has the return value and the first of them, if it is one word. Of a call that failed each "
    "has\n"
    "-1 and the error's number.\n"
    "\n"
    "An event whose number has bit 9 set has a value that takes 64 bits: then all take two words.\n"
    "\n"
    "| number | name | arguments | enter, fast | enter, wide | exit, wide | | meaning |\n"
    "|---:|---|---|---|---|---|---|---|\n";

int main(void)
{
    fputs(head, stdout);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];

        printf("| %u | %s | ", row->number, row->name);
        gen_code(row->args);
        fputs(" | ", stdout);
        gen_code(row->enter);
        fputs(" | ", stdout);
        gen_code(row->enter_wide);
        fputs(" | ", stdout);
        gen_code(row->exit_wide);
        printf(" | %s | ", strcmp(row->flags, "0") == 0 ? "" : row->flags);
        gen_cell(row->doc);
        fputs(" |\n", stdout);
    }
    fputs(errors_head, stdout);
    for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        printf("| %s | %s |\n", errors[i].call, errors[i].errors);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints docs/reference/kercalls.md from abi/kercalls.def and errors.def. Run by `make docs`; the
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
static const struct row kercalls_md_call_rows[] = {
#include "abi/kercalls.def"
};
/* clang-format on */

static const struct {
    const char *call, *errors;
} errors[] = {
#define ERRORS(name, ...) {#name, #__VA_ARGS__},
#include "abi/errors.def"
};

static const char errors_head[] =
    "\n"
    "## Errors\n"
    "\n"
    "From `abi/errors.def`: all errors that a call may end with. Tests cause each of them\n"
    "and fail on any other. The functions of `<sys/neutrino.h>` return -1 and set `errno`; their\n"
    "`_r` variants return the negative number. `MsgSend()`'s EIO stands for any error that a\n"
    "server passes to `MsgError()`. Only `TimerTimeout()` leads to ETIMEDOUT, and only the\n"
    "cancellation of a thread to EINTR.\n"
    "\n"
    "| call | errors |\n"
    "|---|---|\n";

static const char kercalls_md_page_head[] =
    "# Kernel calls\n"
    "\n"
    "This page is for those who program with kernel calls, and for those who read them in a "
    "capture.\n"
    "Generated from `abi/kercalls.def` by `make docs`; change the table, not this page.\n"
    "Numbers below 100 are QNX 6.4's, 100 and above are Kymo's own. A row with an empty number\n"
    "continues the row above it.\n"
    "\n"
    "Arguments: `in`, `out` and `inout` point to memory of a fixed size that the call reads,\n"
    "writes, or both; `str` points to a string, `msg` to a message or an iov array. The rest are\n"
    "values. *No lock*: the call runs without the kernel lock and never blocks.\n"
    "\n"
    "| number | name | arguments | | meaning |\n"
    "|---:|---|---|---|---|\n";

static const char events_head[] =
    "\n"
    "## Events\n"
    "\n"
    "In the trace a call's entry has the call's number, its exit that number +128, and INT +256:\n"
    "a long call lets others run, or a wait is ended from outside ([format.md](format.md)). The\n"
    "class of QNX's calls is KER_CALL (2). Calls from 100 on have the class KYMO_CALL (13), "
    "because\n"
    "QNX 7 has other calls with these numbers; filters, probes and `kymo print` treat both alike.\n"
    "The words of an entry, fast or wide, are: `a0` … the arguments,\n"
    "`m0` … the first words of the message sent; the others, with a type as in\n"
    "[events.md](events.md) (`E` and `X` are two words), are fields that the arguments point to.\n"
    "The wide exit has the return value and these words: `r0` … the first words of the message\n"
    "received; the others are fields that the call stored. The fast exit has the return value and\n"
    "the first of these, if it is one word. If the call failed, both have -1 and the error's\n"
    "number, which the capture's error table names (QNX numbers its errors differently).\n"
    "\n"
    "If bit 9 of an event's number is set, one of its values needs 64 bits, and each value takes\n"
    "two words.\n"
    "\n"
    "| number | name | enter, fast | enter, wide | exit, wide |\n"
    "|---:|---|---|---|---|\n";

static void kercalls_md_print_call(const struct row *row)
{
    struct gen_row out = {0};
    char number[16];

    snprintf(number, sizeof(number), "%u", row->number);
    gen_cell(&out, number);
    gen_cell(&out, row->name);
    gen_code(&out, row->args);
    gen_cell(&out, strcmp(row->flags, "0") == 0 ? "" : row->flags);
    gen_cell(&out, row->doc);
    gen_print(&out);
}

static void kercalls_md_print_event(const struct row *row)
{
    struct gen_row out = {0};
    char number[16];

    snprintf(number, sizeof(number), "%u", row->number);
    gen_cell(&out, number);
    gen_cell(&out, row->name);
    gen_code(&out, row->enter);
    gen_code(&out, row->enter_wide);
    gen_code(&out, row->exit_wide);
    gen_print(&out);
}

int main(void)
{
    fputs(kercalls_md_page_head, stdout);
    for (unsigned i = 0; i < sizeof(kercalls_md_call_rows) / sizeof(kercalls_md_call_rows[0]);
         i++) {
        kercalls_md_print_call(&kercalls_md_call_rows[i]);
    }
    fputs(events_head, stdout);
    for (unsigned i = 0; i < sizeof(kercalls_md_call_rows) / sizeof(kercalls_md_call_rows[0]);
         i++) {
        kercalls_md_print_event(&kercalls_md_call_rows[i]);
    }
    fputs(errors_head, stdout);
    for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        printf("| %s | %s |\n", errors[i].call, errors[i].errors);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

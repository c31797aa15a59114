/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the kernel calls' part of the table that a capture carries (abi/syspage.h), as C strings,
 * from abi/kercalls.def. The build writes it to build/gen/trace_kercalls.inc.h, which
 * trace/event_text.c includes. Proved by test/trace/calls_test.c.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARGUMENTS = 6, WORDS = 20 };

/* A word of an event: an argument of the call, or what has a name and a type of its own. */
struct word {
    char type;    /* as in trace/events.def; 0 ends a list */
    int argument; /* its number; -1: none */
    const char *name;
};

struct call {
    unsigned number;
    const char *name;
    const char *arguments[ARGUMENTS + 1];
    struct word enter[WORDS], enter_wide[WORDS], exit_wide[WORDS];
};

#define NONE NULL
#define VAL(name) #name
#define IN(name, bytes) #name
#define OUT(name, bytes) #name
#define INOUT(name, bytes) #name
#define STR(name) #name
#define MSG(name) #name
#define LIST(...) \
    { \
        __VA_ARGS__ \
    }
#define A(...) LIST(__VA_ARGS__)
#define ENTER(...) LIST(__VA_ARGS__)
#define ENTERW(...) LIST(__VA_ARGS__)
#define EXITW(...) LIST(__VA_ARGS__)
#define ARGUMENT(n) LIST('P', n, NULL)
#define NAMED(type, name) LIST(#type[0], -1, name)
#define a0 ARGUMENT(0)
#define a1 ARGUMENT(1)
#define a2 ARGUMENT(2)
#define a3 ARGUMENT(3)
#define a4 ARGUMENT(4)
#define a5 ARGUMENT(5)
#define m0 NAMED(P, "msg0")
#define m1 NAMED(P, "msg1")
#define m2 NAMED(P, "msg2")
#define r0 NAMED(P, "rmsg0")
#define r1 NAMED(P, "rmsg1")
#define r2 NAMED(P, "rmsg2")
#define CALLER NAMED(H, "owner")
#define F(n, structure, member, type, name) NAMED(type, #name)
#define W(n, c_type, type, name) NAMED(type, #name)

static const struct call trace_kercalls_call_table[] = {
#define KERCALL(number, NAME, handler, FLAGS, arguments, enter, enter_wide, exit_wide, doc) \
    {number, #NAME, arguments, enter, enter_wide, exit_wide},
#include "abi/kercalls.def"
};
_Static_assert(WORDS > KERCALL_WORDS + 1, "room for all and an end");

static void print_word(const struct call *call, const struct word *word)
{
    const char *name = word->argument < 0 ? word->name : call->arguments[word->argument];

    if (!name) {
        fprintf(stderr, "abi/kercalls.def: %s has no argument a%d; name one that it has\n",
                call->name, word->argument);
        exit(1);
    }
    printf("%c:%s", word->type, name);
}

static void trace_kercalls_print_list(const struct call *call, const struct word *words)
{
    putchar(' ');
    if (words[0].type == 0) {
        putchar('-');
    }
    for (unsigned i = 0; words[i].type != 0; i++) {
        if (i > 0) {
            putchar(',');
        }
        print_word(call, &words[i]);
    }
}

/* Exits begin with the value returned; the fast one has the list's first, if that is one word. */
static void print_exit(const struct call *call, bool wide)
{
    const struct word *words = call->exit_wide;

    printf(" P:ret_val");
    for (unsigned i = 0; words[i].type != 0; i++) {
        bool one_word = words[i].type != 'E' && words[i].type != 'X';
        if (wide || (i == 0 && one_word)) {
            putchar(',');
            print_word(call, &words[i]);
        }
    }
}

int main(void)
{
    printf(
        "/* SPDX-License-Identifier: BSD-2-Clause */\n"
        "/* Generated from abi/kercalls.def by host/gen/gen_trace_kercalls.c: change the table.\n"
        " * Included by trace/event_text.c only. */\n");
    for (unsigned i = 0;
         i < sizeof(trace_kercalls_call_table) / sizeof(trace_kercalls_call_table[0]); i++) {
        printf("\"%u %s", trace_kercalls_call_table[i].number, trace_kercalls_call_table[i].name);
        trace_kercalls_print_list(&trace_kercalls_call_table[i],
                                  trace_kercalls_call_table[i].enter);
        trace_kercalls_print_list(&trace_kercalls_call_table[i],
                                  trace_kercalls_call_table[i].enter_wide);
        print_exit(&trace_kercalls_call_table[i], false);
        print_exit(&trace_kercalls_call_table[i], true);
        printf("\\n\"\n");
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

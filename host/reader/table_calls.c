/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel calls' events, compiled in from abi/kercalls.def. The names of the words come
 * from the argument lists: `a0` is the first argument's name, `m0` a word of the message sent, `r0`
 * of the one received; others have their type and name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"

struct builtin_call {
    unsigned number;
    const char *name;
    const char *args;  /* "V coid, P smsg": V a value, P a pointer */
    const char *enter; /* "a0, m0, D sigev_notify" */
    const char *enter_wide;
    const char *exit_wide;
};

/* The argument kinds, stringised after expansion. */
#define VAL(name) V name
#define IN(name, ...) P name
#define OUT(name, ...) P name
#define INOUT(name, ...) P name
#define STR(name) P name
#define MSG(name) P name
#define NONE
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
#define A(...) TEXT(__VA_ARGS__)
#define F(n, structure, member, type, name) type name
#define W(n, c_type, type, name) type name
#define ENTER(...) TEXT(__VA_ARGS__)
#define ENTERW(...) TEXT(__VA_ARGS__)
#define EXITW(...) TEXT(__VA_ARGS__)
#define KERCALL(number, name, handler, flags, args, enter, enter_wide, exit_wide, doc) \
    {number, #name, args, enter, enter_wide, exit_wide},

/* clang-format off */
static const struct builtin_call table_calls_of_kernel[] = {
#include "abi/kercalls.def"
};
/* clang-format on */

/* The n-th item of a comma-separated list, spaces cut off; its length, 0 if there is none. */
static size_t table_calls_list_item(const char *list, unsigned n, const char **start)
{
    size_t len;

    for (; n > 0 && (list = strchr(list, ',')) != NULL; n--) {
        list++;
    }
    if (list == NULL) {
        return 0;
    }
    while (*list == ' ') {
        list++;
    }
    len = strcspn(list, ",");
    *start = list;
    return len;
}

static bool is_one_of(const char *name, size_t len, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (strlen(*names) == len && memcmp(*names, name, len) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns how an argument is printed: as an address, as bits, or as a number. */
static char arg_type(char kind, const char *name, size_t len)
{
    static const char *const addresses[] = {"func", "arg",     "canstub", "data", "buffer",
                                            "text", "address", "addr",    "a",    NULL};
    static const char *const bits[] = {"flags", "mask", "bits", "rcvid", "cmd", "coid",
                                       "a1",    "a2",   "a3",   "a4",    NULL};

    if (kind == 'P' || is_one_of(name, len, addresses)) {
        return 'P';
    }
    return is_one_of(name, len, bits) ? 'H' : 'D';
}

/* The type of the call's argument of that name, 0 if it has none. */
static char call_arg_type(const struct builtin_call *call, const char *name)
{
    size_t len = strlen(name), arg_len;
    const char *arg;

    for (unsigned n = 0; (arg_len = table_calls_list_item(call->args, n, &arg)) > 2; n++) {
        if (arg_len - 2 == len && memcmp(arg + 2, name, len) == 0) {
            return arg_type(arg[0], name, len);
        }
    }
    return '\0';
}

/*
 * Every word of a call is pointer-sized, so the capture's table has type P for all. How to print
 * one goes by its name, as in the table compiled in.
 */
char kev_call_word_type(unsigned number, const char *name)
{
    if (strcmp(name, "ret_val") == 0) {
        return 'D';
    }
    if (strncmp(name, "msg", 3) == 0 || strncmp(name, "rmsg", 4) == 0) {
        return 'H';
    }
    for (unsigned i = 0; i < sizeof(table_calls_of_kernel) / sizeof(table_calls_of_kernel[0]);
         i++) {
        char type = table_calls_of_kernel[i].number == number
                        ? call_arg_type(&table_calls_of_kernel[i], name)
                        : '\0';

        if (type != '\0') {
            return type;
        }
    }
    return 'P';
}

static void table_calls_word_name(struct kev_arg *arg, char type, const char *name, size_t len)
{
    arg->type = type;
    snprintf(arg->name, sizeof(arg->name), "%.*s", (int)len, name);
}

static void word_add(struct kev_list *list, const struct builtin_call *call, const char *word,
                     size_t len)
{
    struct kev_arg *arg = &list->args[list->n++];
    const char *name;
    size_t name_len;

    if (word[1] == ' ') {
        table_calls_word_name(arg, word[0], word + 2, len - 2);
    } else if (word[0] == 'C') {
        table_calls_word_name(arg, 'H', "owner", 5);
    } else if (word[0] == 'm' || word[0] == 'r') {
        arg->type = 'H';
        snprintf(arg->name, sizeof(arg->name), "%s%c", word[0] == 'm' ? "msg" : "rmsg", word[1]);
    } else {
        name_len = table_calls_list_item(call->args, (unsigned)(word[1] - '0'), &name);
        table_calls_word_name(arg, arg_type(name[0], name + 2, name_len - 2), name + 2,
                              name_len - 2);
    }
}

static void words_add(struct kev_list *list, const struct builtin_call *call, const char *words)
{
    const char *word;
    size_t len;

    for (unsigned i = 0;
         list->n < KEV_ARGS_MAX && (len = table_calls_list_item(words, i, &word)) > 0; i++) {
        word_add(list, call, word, len);
    }
}

/* The first of the wide exit, if it is one word. */
static void fast_exit(struct kev_list *fast, const struct kev_list *wide)
{
    *fast = *wide;
    fast->n = wide->n > 1 && wide->args[1].type != 'E' && wide->args[1].type != 'X' ? 2 : 1;
}

int kev_table_calls_builtin(struct kev_table *table)
{
    for (unsigned i = 0; i < sizeof(table_calls_of_kernel) / sizeof(table_calls_of_kernel[0]);
         i++) {
        struct kev_list lists[4];

        memset(lists, 0, sizeof(lists));
        words_add(&lists[0], &table_calls_of_kernel[i], table_calls_of_kernel[i].enter);
        words_add(&lists[1], &table_calls_of_kernel[i], table_calls_of_kernel[i].enter_wide);
        lists[3].n = 1;
        lists[3].args[0] = (struct kev_arg){.type = 'D', .name = "ret_val"};
        words_add(&lists[3], &table_calls_of_kernel[i], table_calls_of_kernel[i].exit_wide);
        fast_exit(&lists[2], &lists[3]);
        if (kev_table_call(table, trace_kercall_class(table_calls_of_kernel[i].number),
                           table_calls_of_kernel[i].number, table_calls_of_kernel[i].name,
                           lists) != 0) {
            return -1;
        }
    }
    return 0;
}

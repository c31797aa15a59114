/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names that every program knows: the machine's variables and subroutines (from opcodes.def),
 * the aggregating functions, the actions.
 */
#include "host/dt/clause/action.h"
#include "host/dt/session/compile.h"

#include <string.h>

#define VERSION(minor) (0x010000u | (minor) << 8)

static const struct known_type {
    const char *text;
    enum dt_basic basic;
} known_types[] = {
    {"void", DT_BASIC_VOID},
    {"int", DT_BASIC_INT},
    {"char", DT_BASIC_CHAR},
    {"string", DT_BASIC_STRING},
    {"size_t", DT_BASIC_SIZE},
    {"uintptr_t", DT_BASIC_UINTPTR},
    {"int64_t", DT_BASIC_INT64},
    {"uint64_t", DT_BASIC_UINT64},
    {"uint32_t", DT_BASIC_UINT32},
    {"uint16_t", DT_BASIC_UINT16},
    {"uint_t", DT_BASIC_UINT},
    {"void *", DT_BASIC_VOIDPTR},
    {"const char *", DT_BASIC_STRING},
    {"char *", DT_BASIC_CHARPTR},
    {"pid_t", DT_BASIC_INT32},
    {"id_t", DT_BASIC_INT32},
    {"uintptr_t *", DT_BASIC_VOIDPTR},
    {"ipaddr_t *", DT_BASIC_VOIDPTR},
    {"in6_addr_t *", DT_BASIC_VOIDPTR},
    {"", DT_BASIC_VOIDPTR},
};

/* A type of the table; those with a name of their own (pid_t) keep it, if the session has it. */
static const struct dt_type *type_named(struct dt_session *d, const char *text)
{
    const struct dt_type *type = NULL;

    if (strcmp(text, "pid_t") == 0 || strcmp(text, "id_t") == 0 || strcmp(text, "uint_t") == 0) {
        type = dt_type_lookup(d, NULL, text);
    }
    for (size_t i = 0; !type && i < sizeof(known_types) / sizeof(*known_types); i++) {
        if (strcmp(text, known_types[i].text) == 0) {
            type = dt_type_basic(d, known_types[i].basic);
        }
    }
    return type;
}

static const struct since {
    const char *name;
    unsigned version;
} since[] = {
    {"freopen", VERSION(1)},    {"index", VERSION(1)},     {"memref", VERSION(1)},
    {"rindex", VERSION(1)},     {"strchr", VERSION(1)},    {"strrchr", VERSION(1)},
    {"strstr", VERSION(1)},     {"strtok", VERSION(1)},    {"substr", VERSION(1)},
    {"func", VERSION(2)},       {"mod", VERSION(2)},       {"setopt", VERSION(2)},
    {"sym", VERSION(2)},        {"uaddr", VERSION(2)},     {"ucaller", VERSION(2)},
    {"ufunc", VERSION(2)},      {"umod", VERSION(2)},      {"ustackdepth", VERSION(2)},
    {"usym", VERSION(2)},       {"htons", VERSION(3)},     {"htonl", VERSION(3)},
    {"htonll", VERSION(3)},     {"ntohs", VERSION(3)},     {"ntohl", VERSION(3)},
    {"ntohll", VERSION(3)},     {"inet_ntop", VERSION(5)}, {"inet_ntoa", VERSION(5)},
    {"inet_ntoa6", VERSION(5)}, {"stddev", VERSION(6)},    {"llquantize", VERSION(7)},
    {"tolower", VERSION(8)},    {"toupper", VERSION(8)},   {"print", VERSION(9)},
    {"getf", VERSION(10)},      {"json", VERSION(11)},     {"strtoll", VERSION(11)},
};

static struct dt_ident *builtin_define_name(struct dt_session *d, const char *name,
                                            enum dt_ident_kind kind, uint32_t number)
{
    struct dt_ident *ident = dt_ident_add(d, d->globals, name, kind);

    ident->flags = DT_IDENT_BUILTIN | DT_IDENT_DECLARED;
    ident->number = number;
    ident->version = VERSION(0);
    for (size_t i = 0; i < sizeof(since) / sizeof(*since); i++) {
        if (strcmp(name, since[i].name) == 0) {
            ident->version = since[i].version;
        }
    }
    ident->attributes = (struct dt_attributes_short){DTRACE_STABLE, DTRACE_STABLE, DTRACE_COMMON};
    return ident;
}

/* Parses a type of "const char *, int, [int]" from p on; returns the rest. */
static const char *one_argument(struct dt_session *d, const char *p, const struct dt_type **type,
                                bool *optional)
{
    char text[32];
    size_t n = 0;

    *optional = *p == '[';
    for (p += *optional; *p && *p != ',' && *p != ']'; p++) {
        if (n + 1 < sizeof(text)) {
            text[n++] = *p;
        }
    }
    text[n] = '\0';
    *type = type_named(d, text);
    p += *p == ']';
    return *p == ',' ? p + 2 : p;
}

static void define_subroutine(struct dt_session *d, const char *name, uint32_t number,
                              const char *result, const char *args)
{
    enum { MOST = 4 };

    if (!*result) {
        return; /* has no meaning here: an undefined function */
    }
    struct dt_ident *ident = builtin_define_name(d, name, DT_IDENT_FUNCTION, number);
    const struct dt_type **types = dt_alloc(d, MOST * sizeof(*types));
    struct dt_signature *s = &ident->signature;
    while (*args && s->nargs < MOST) {
        bool optional;
        args = one_argument(d, args, &types[s->nargs++], &optional);
        s->optional += optional;
    }
    s->result = type_named(d, result);
    s->args = types;
    s->fixed = true;
    ident->type = s->result;
}

void dt_builtins_define(struct dt_session *d)
{
#define DIF_VAR(number, name, kind, result, doc) \
    builtin_define_name(d, #name, DT_IDENT_##kind, number)->type = type_named(d, result);
#define DIF_SUBR(number, name, result, args, cost, doc) \
    define_subroutine(d, #name, number, result, args);
#include "trace/dtrace/opcodes.def"
#define AGGREGATING(name, kind) builtin_define_name(d, #name, DT_IDENT_AGGFUNC, kind);
#define ACTION(name, number) builtin_define_name(d, #name, DT_IDENT_ACTION, number);
#include "host/dt/clause/actions.def"
}

void dt_session_lacks(struct dt_session *d, const char *variable, const char *why)
{
    struct dt_ident *ident = dt_ident_lookup(d->globals, variable);

    if (ident && ident->flags & DT_IDENT_BUILTIN) {
        ident->lacks = dt_strdup(d, why);
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* See assemble.h. */
#include "test/trace/dtrace/machine/assemble.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS = 64, WORD = 4096 };

static const struct {
    const char *name, *format;
} ops[DIF_OP_MAX + 1] = {
#define DIF_OP(number, name, format, doc) [number] = {#name, #format},
#include "trace/dtrace/opcodes.def"
};

static const struct {
    unsigned id;
    const char *name;
} builtins[] = {
#define DIF_VAR(number, name, kind, type, doc) {number, #name},
#include "trace/dtrace/opcodes.def"
};

static const char *const subrs[DIF_SUBR_MAX + 1] = {
#define DIF_SUBR(number, name, result, args, cost, doc) [number] = #name,
#include "trace/dtrace/opcodes.def"
};

struct state {
    struct asm_object *to;
    const char *at, *all;
    char word[WORD];
    size_t length; /* of word: a string may hold NULs */
    struct {
        char name[32];
        uint32_t at;
    } labels[LABELS], uses[LABELS];
    unsigned nlabels, nuses;
};

static void die(const struct state *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "assemble: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, " before: %.40s\nin: %s\n", s->at, s->all);
    va_end(args);
    abort();
}

static void escape(struct state *s)
{
    char c = *s->at++;

    switch (c) {
    case 'n':
        c = '\n';
        break;
    case 't':
        c = '\t';
        break;
    case 'x':
        c = (char)strtoul((char[]){s->at[0], s->at[1], 0}, NULL, 16);
        s->at += 2;
        break;
    }
    s->word[s->length++] = c;
}

/* The next word of the line; false: the line ends. */
static bool next(struct state *s)
{
    s->length = 0;
    while (*s->at == ' ' || *s->at == '\t' || *s->at == ',') {
        s->at++;
    }
    if (*s->at == '#') {
        s->at += strcspn(s->at, "\n");
    }
    if (*s->at == '"') {
        for (s->at++; *s->at && *s->at != '"';) {
            if (*s->at == '\\') {
                s->at++;
                escape(s);
            } else {
                s->word[s->length++] = *s->at++;
            }
        }
        s->at += *s->at == '"';
        s->word[s->length] = '\0';
        return true;
    }
    while (*s->at && !strchr(" \t,;\n#", *s->at)) {
        s->word[s->length++] = *s->at++;
    }
    s->word[s->length] = '\0';
    return s->length > 0;
}

static void need(struct state *s)
{
    if (!next(s)) {
        die(s, "a word is missing");
    }
}

static uint64_t number(struct state *s)
{
    char *end;

    need(s);
    uint64_t value =
        s->word[0] == '-' ? (uint64_t)strtoll(s->word, &end, 0) : strtoull(s->word, &end, 0);
    if (*end) {
        die(s, "no number: %s", s->word);
    }
    return value;
}

static uint32_t reg(struct state *s)
{
    need(s);
    if (s->word[0] != 'r') {
        die(s, "no register: %s", s->word);
    }
    return (uint32_t)atoi(s->word + 1);
}

static uint32_t add_int(struct state *s, uint64_t value)
{
    struct dif_object *o = &s->to->object;

    for (uint32_t i = 0; i < o->nints; i++) {
        if (s->to->ints[i] == value) {
            return i;
        }
    }
    if (o->nints == ASM_INTS) {
        die(s, "too many integers");
    }
    s->to->ints[o->nints] = value;
    return o->nints++;
}

static uint32_t add_string(struct state *s)
{
    struct dif_object *o = &s->to->object;
    uint32_t at = o->strings_size;

    if (s->length == 0) {
        return 0;
    }
    if (at + s->length + 1 > ASM_STRINGS) {
        die(s, "too many strings");
    }
    memcpy(s->to->strings + at, s->word, s->length + 1);
    o->strings_size += (uint32_t)s->length + 1;
    return at;
}

static uint32_t variable(struct state *s)
{
    need(s);
    for (uint32_t i = 0; i < s->to->object.nvars; i++) {
        if (strcmp(s->to->strings + s->to->vars[i].name, s->word) == 0) {
            return s->to->vars[i].id;
        }
    }
    for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++) {
        if (strcmp(builtins[i].name, s->word) == 0) {
            return builtins[i].id;
        }
    }
    if (!isdigit((unsigned char)s->word[0])) {
        die(s, "no variable: %s", s->word);
    }
    return (uint32_t)strtoul(s->word, NULL, 0);
}

static uint32_t subroutine(struct state *s)
{
    need(s);
    for (uint32_t i = 0; i <= DIF_SUBR_MAX; i++) {
        if (strcmp(subrs[i], s->word) == 0) {
            return i;
        }
    }
    return (uint32_t)strtoul(s->word, NULL, 0);
}

static uint32_t choice(struct state *s, const char *const *words, uint32_t n)
{
    need(s);
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(words[i], s->word) == 0) {
            return i;
        }
    }
    die(s, "unknown: %s", s->word);
    return 0;
}

static struct dif_type type(struct state *s)
{
    static const char *const kinds[] = {"value", "ref", "string"};
    uint32_t kind = choice(s, kinds, 3);
    const char *before = s->at;
    struct dif_type t = {.kind = kind == 2, .ref = kind > 0};

    if (next(s)) {
        s->at = before;
        t.size = (uint32_t)number(s);
    }
    return t;
}

/* The variable's id: the same name has the same in every object. */
static uint16_t id_of(const char *name)
{
    unsigned hash = 0;

    while (*name) {
        hash = hash * 31 + (unsigned char)*name++;
    }
    return (uint16_t)(DIF_VAR_OTHER_USER + hash % 60000);
}

static void declare(struct state *s)
{
    static const char *const scopes[] = {"global", "thread", "local"};
    static const char *const kinds[] = {"array", "scalar"};
    struct dif_variable v = {.flags = DIF_FLAG_REF | DIF_FLAG_MOD};

    need(s);
    v.name = add_string(s);
    v.id = id_of(s->word);
    v.scope = (uint8_t)choice(s, scopes, 3);
    v.kind = (uint8_t)choice(s, kinds, 2);
    v.type = type(s);
    if (s->to->object.nvars == ASM_VARS) {
        die(s, "too many variables");
    }
    s->to->vars[s->to->object.nvars++] = v;
}

static uint32_t label(struct state *s)
{
    need(s);
    if (isdigit((unsigned char)s->word[0])) {
        return (uint32_t)strtoul(s->word, NULL, 0);
    }
    if (s->nuses == LABELS) {
        die(s, "too many branches");
    }
    snprintf(s->uses[s->nuses].name, sizeof(s->uses[0].name), "%.31s", s->word);
    s->uses[s->nuses++].at = s->to->object.ntext;
    return 0;
}

static dif_insn operands(struct state *s, uint32_t op, const char *format)
{
    static const char *const pushes[] = {"ctf", "string"};
    uint32_t a = 0, b = 0, c = 0;

#define IS(name) (strcmp(format, name) == 0)
    if (IS("RRR") || IS("COPY")) {
        a = reg(s), b = reg(s), c = reg(s);
    } else if (IS("RR") || IS("LOAD") || IS("STORE")) {
        a = reg(s), c = reg(s);
    } else if (IS("CMP")) {
        a = reg(s), b = reg(s);
    } else if (IS("TST")) {
        a = reg(s);
    } else if (IS("BRANCH")) {
        return DIF_BRANCH(op, label(s));
    } else if (IS("RET")) {
        c = reg(s);
    } else if (IS("SETX")) {
        a = add_int(s, number(s));
        return DIF_INDEX(op, a, reg(s));
    } else if (IS("SETS")) {
        need(s);
        a = add_string(s);
        return DIF_INDEX(op, a, reg(s));
    } else if (IS("LDA")) {
        a = variable(s), b = reg(s), c = reg(s);
    } else if (IS("LDV") || IS("STV")) {
        a = variable(s);
        return DIF_INDEX(op, a, reg(s));
    } else if (IS("CALL")) {
        a = subroutine(s);
        return DIF_INDEX(op, a, reg(s));
    } else if (IS("PUSHR")) {
        a = choice(s, pushes, 2), b = reg(s), c = reg(s);
    } else if (IS("PUSHV")) {
        c = reg(s);
    }
#undef IS
    return DIF_RRR(op, a, b, c);
}

static dif_insn instruction(struct state *s)
{
    if (strcmp(s->word, "word") == 0) {
        return (dif_insn)number(s);
    }
    for (uint32_t op = 1; op <= DIF_OP_MAX; op++) {
        if (strcmp(ops[op].name, s->word) == 0) {
            return operands(s, op, ops[op].format);
        }
    }
    die(s, "no instruction: %s", s->word);
    return 0;
}

static void line(struct state *s)
{
    while (s->length > 0 && s->word[s->length - 1] == ':') {
        if (s->nlabels == LABELS) {
            die(s, "too many labels");
        }
        snprintf(s->labels[s->nlabels].name, sizeof(s->labels[0].name), "%.*s", (int)s->length - 1,
                 s->word);
        s->labels[s->nlabels++].at = s->to->object.ntext;
        if (!next(s)) {
            return;
        }
    }
    if (strcmp(s->word, "var") == 0) {
        declare(s);
    } else if (strcmp(s->word, "result") == 0) {
        s->to->object.result = type(s);
    } else {
        dif_insn i = instruction(s);
        if (s->to->object.ntext == ASM_TEXT) {
            die(s, "too many instructions");
        }
        s->to->text[s->to->object.ntext++] = i;
    }
    if (next(s)) {
        die(s, "a word too many: %s", s->word);
    }
}

static void resolve(struct state *s)
{
    for (unsigned u = 0; u < s->nuses; u++) {
        unsigned l = 0;
        while (l < s->nlabels && strcmp(s->labels[l].name, s->uses[u].name) != 0) {
            l++;
        }
        if (l == s->nlabels) {
            die(s, "no label: %s", s->uses[u].name);
        }
        s->to->text[s->uses[u].at] |= s->labels[l].at;
    }
}

void assemble(struct asm_object *to, const char *text)
{
    static struct state s;

    memset(&s, 0, sizeof(s));
    memset(to, 0, sizeof(*to));
    s.to = to;
    s.at = s.all = text;
    to->object = (struct dif_object){.text = to->text,
                                     .ints = to->ints,
                                     .strings = to->strings,
                                     .vars = to->vars,
                                     .strings_size = 1,
                                     .result = {.size = 8}};
    while (*s.at) {
        if (next(&s)) {
            line(&s);
        }
        s.at += *s.at == ';' || *s.at == '\n';
    }
    resolve(&s);
}

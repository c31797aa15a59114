/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random objects. Instructions come from opcodes.def with their weights by format; operands are
 * valid, and what a register likely holds is remembered, so that most loads find something and most
 * subroutines get what they want. See program.h.
 */
#include "test/trace/dtrace/random/program.h"

#include <stdio.h>
#include <string.h>

static const uint8_t formats[DIF_OP_MAX + 1] = {
#define DIF_OP(number, name, format, doc) [number] = DIF_FORMAT_##format,
#include "trace/dtrace/opcodes.def"
};

static const uint16_t builtins[] = {
#define DIF_VAR(number, name, kind, type, doc) (number),
#include "trace/dtrace/opcodes.def"
};

static const struct {
    const char *result, *args;
} subrs[] = {
#define DIF_SUBR(number, name, result, args, cost, doc) [number] = {result, args},
#include "trace/dtrace/opcodes.def"
};

/* What a register likely holds. */
enum holds { NUMBER, SMALL, ADDRESS, STRING };

static struct {
    struct program *program;
    struct p_object *o;
    uint32_t n, end; /* instructions there are, and about where it ends */
    uint8_t holds[DIF_REGS];
} g;

/* ---- registers and constants ------------------------------------------------------- */

static void emit(dif_insn i)
{
    if (g.n < P_TEXT - 1) {
        g.o->text[g.n++] = i;
    }
}

static uint32_t any(void)
{
    return r_below(DIF_REGS);
}

static uint32_t target(enum holds what)
{
    uint32_t r = 1 + r_below(DIF_REGS - 1);

    g.holds[r] = (uint8_t)what;
    return r;
}

/* A register that holds such a thing; r0 if there is none. */
static uint32_t held(enum holds what)
{
    uint32_t from = any();

    for (uint32_t i = 0; i < DIF_REGS; i++) {
        uint32_t r = (from + i) % DIF_REGS;
        if (g.holds[r] == what || (what == ADDRESS && g.holds[r] == STRING)) {
            return r;
        }
    }
    return 0;
}

static uint64_t number(void)
{
    static const uint64_t some[] = {
        0,          1,        2,   7,          10,           16,        26,
        36,         37,       255, UINT64_MAX, (uint64_t)-2, INT64_MAX, (uint64_t)INT64_MIN,
        UINT32_MAX, 1u << 31, 63,  64};

    return r_chance(70) ? R_PICK(some) : r_chance(50) ? r_next() : r_next() >> r_below(64);
}

static uint64_t address(void)
{
    if (g.program->naddresses == 0) {
        return r_next();
    }
    uint64_t base = g.program->addresses[r_below(g.program->naddresses)];

    return base + (r_chance(60) ? 8 * r_below(4) : r_below(60)) - r_chance(5) * 9u;
}

static uint32_t constant(enum holds what)
{
    struct dif_object *o = &g.o->object;
    uint64_t value = what == ADDRESS ? address()
                     : what == SMALL ? r_below(r_chance(80) ? 24 : 300)
                                     : number();

    if (o->nints == P_INTS) {
        return r_below(P_INTS);
    }
    g.o->ints[o->nints] = value;
    return o->nints++;
}

static uint32_t load_constant(enum holds what)
{
    uint32_t rd = target(what), index = constant(what);

    emit(DIF_INDEX(DIF_OP_setx, index, rd));
    return rd;
}

/* ---- strings ----------------------------------------------------------------------- */

static void letters(char *to, const char *set, uint32_t length)
{
    while (length--) {
        *to++ = set[r_below((uint32_t)strlen(set))];
    }
    *to = '\0';
}

static void random_string(char *to)
{
    static const char *const some[] = {
        "",
        "a",
        "ab",
        "/",
        "//",
        "/usr//lib/./x/../y/",
        "a/b/../..",
        "../.",
        "/..",
        "hello world",
        " -0x7fz",
        "0777",
        "-12",
        "99999999999999999999",
        ",; ",
        "aXbXc",
        "[1].b.c",
        "b",
        "c[0][1]",
        "{\"a\": 1, \"b\": [true, null, {\"c\": \"x\\ny\"}], \"\": -1.5e3 }",
        "b[2].c",
        "[0]",
        "[1, [2, 3], {\"b\":{\"c\": \"\\u12aF\"}} ]",
        "{\"b\":\"unended",
        "{\"b\" :truefalse }",
        "a.b.c",
        "\\,\"{}",
        "\x01\x02\x7f\x80\xff",
        "127.0.0.1",
    };
    static const char *const sets[] = {"ab",       "/.a",  "{}[]\":,1.etr\\nu ",
                                       "abcXYZ09", " ,;a", "\x01\xffz"};

    if (r_chance(60)) {
        strcpy(to, R_PICK(some));
    } else {
        letters(to, R_PICK(sets), r_below(r_chance(90) ? 12 : 100));
    }
}

static void strings(struct p_object *o)
{
    uint32_t size = 1, n = 1 + r_below(6);

    o->strings[0] = '\0';
    while (n-- && size < P_STRINGS - 120) {
        random_string(o->strings + size);
        size += (uint32_t)strlen(o->strings + size) + 1;
    }
    o->object.strings_size = size;
}

/* Mostly where one begins. */
static uint32_t load_string(void)
{
    const struct dif_object *o = &g.o->object;
    uint32_t at = r_below(o->strings_size), rd = target(STRING);

    while (at && r_chance(90) && g.o->strings[at - 1]) {
        at--;
    }
    emit(DIF_INDEX(DIF_OP_sets, at, rd));
    return rd;
}

/* ---- variables --------------------------------------------------------------------- */

static struct dif_type random_type(bool may_be_value)
{
    if (may_be_value && r_chance(45)) {
        return (struct dif_type){.size = 1u << r_below(4)};
    }
    if (r_chance(55)) {
        return (struct dif_type){.kind = DIF_TYPE_STRING, .ref = 1};
    }
    return (struct dif_type){.ref = 1, .size = 1 + r_below(r_chance(90) ? 40 : 300)};
}

void p_variables(struct program *p)
{
    p->nvars = r_below(P_VARS + 1);
    for (uint32_t i = 0; i < p->nvars; i++) {
        struct dif_variable *v = &p->vars[i];
        *v = (struct dif_variable){.id = (uint16_t)(DIF_VAR_OTHER_USER + i),
                                   .kind = (uint8_t)r_below(2),
                                   .scope = (uint8_t)r_below(3),
                                   .flags = DIF_FLAG_REF | DIF_FLAG_MOD,
                                   .type = random_type(true)};
        if (v->scope == DIF_SCOPE_LOCAL) {
            v->kind = DIF_KIND_SCALAR;
        }
    }
}

static const struct dif_variable *some_variable(void)
{
    return g.program->nvars ? &g.program->vars[r_below(g.program->nvars)] : NULL;
}

static enum holds of_type(const struct dif_type *t)
{
    return t->kind == DIF_TYPE_STRING ? STRING : t->ref ? ADDRESS : NUMBER;
}

static void push_of(enum holds what);

static void push_keys(void)
{
    emit(DIF_RRR(DIF_OP_flushts, 0, 0, 0));
    for (uint32_t i = r_below(4); i > 0; i--) {
        push_of(r_chance(40) ? STRING : r_chance(80) ? SMALL : ADDRESS);
    }
}

static void use_variable(const struct dif_variable *v, bool store)
{
    static const uint8_t scalars[3][2] = {
        {DIF_OP_ldgs, DIF_OP_stgs}, {DIF_OP_ldts, DIF_OP_stts}, {DIF_OP_ldls, DIF_OP_stls}};
    static const uint8_t arrays[2][2] = {{DIF_OP_ldgaa, DIF_OP_stgaa},
                                         {DIF_OP_ldtaa, DIF_OP_sttaa}};
    bool array = v->kind == DIF_KIND_ARRAY;
    uint8_t op = array ? arrays[v->scope][store] : scalars[v->scope][store];
    enum holds what = of_type(&v->type);

    if (array && r_chance(95)) {
        push_keys();
    }
    uint32_t r = store ? r_chance(90) ? held(what) : any() : target(what);
    emit(DIF_INDEX(op, v->id, r));
}

static void builtin(void)
{
    uint32_t id = r_chance(98) ? R_PICK(builtins) : 0x100 + r_below(0x200);
    bool string = (DIF_VAR_probeprov <= id && id <= DIF_VAR_probename) || id == DIF_VAR_execname ||
                  id == DIF_VAR_zonename || id == DIF_VAR_execargs || id == DIF_VAR_jailname;
    bool argument = DIF_VAR_arg0 <= id && id <= DIF_VAR_arg4;

    if (id > DIF_VAR_ARRAY_MAX) {
        emit(DIF_INDEX(DIF_OP_ldgs, id, target(string ? STRING : argument ? ADDRESS : NUMBER)));
    }
}

/* ---- pushes and calls -------------------------------------------------------------- */

static uint32_t have(enum holds what)
{
    uint32_t r = held(what);

    if (r && r_chance(60)) {
        return r;
    }
    return what == STRING ? load_string() : load_constant(what);
}

static void push_of(enum holds what)
{
    uint32_t r = have(what), size = 0;

    if (what == STRING && r_chance(80)) {
        size = r_chance(80) ? 0 : held(SMALL);
        emit(DIF_RRR(DIF_OP_pushtr, DIF_TYPE_STRING, size, r));
    } else if (what == ADDRESS && r_chance(60)) {
        size = have(SMALL);
        emit(DIF_RRR(DIF_OP_pushtr, DIF_TYPE_CTF, size, r));
    } else {
        emit(DIF_RRR(DIF_OP_pushtv, DIF_TYPE_CTF, any() & (r_chance(50) ? 7 : 0), r));
    }
}

/* By the type of a parameter as opcodes.def spells it. */
static enum holds wanted(const char *type)
{
    if (strncmp(type, "const char", 10) == 0 || strncmp(type, "char *", 6) == 0) {
        return STRING;
    }
    if (strchr(type, '*') && strchr(type, '*') < type + strcspn(type, ",")) {
        return ADDRESS;
    }
    return strncmp(type, "uintptr_t", 9) == 0 ? ADDRESS
           : strncmp(type, "int64", 5) == 0   ? NUMBER
                                              : SMALL;
}

static void call(void)
{
    uint32_t number_of = r_below(DIF_SUBR_MAX + 1);
    const char *args = subrs[number_of].args, *result = subrs[number_of].result;

    if (!*result && r_chance(98)) {
        return;
    }
    if (r_chance(98)) {
        emit(DIF_RRR(DIF_OP_flushts, 0, 0, 0));
    }
    while (*args) {
        bool optional = *args == '[';
        if (optional && r_chance(50)) {
            break;
        }
        push_of(r_chance(96) ? wanted(args + optional) : (enum holds)r_below(4));
        args += strcspn(args, ",");
        args += *args == ',' ? 2 : 0;
    }
    enum holds what = *result == 's' && result[1] == 't' ? STRING
                      : strchr(result, '*')              ? ADDRESS
                                                         : NUMBER;
    if (number_of == DIF_SUBR_strtok && r_chance(50)) { /* goes on */
        emit(DIF_RRR(DIF_OP_flushts, 0, 0, 0));
        emit(DIF_RRR(DIF_OP_pushtv, 0, 0, 0));
        push_of(STRING);
    }
    emit(DIF_INDEX(DIF_OP_call, number_of, target(what)));
}

/* ---- instructions ------------------------------------------------------------------ */

static uint32_t op_of(enum dif_format format)
{
    uint32_t op;

    do {
        op = 1 + r_below(DIF_OP_MAX);
    } while (formats[op] != format);
    return op;
}

static void calculate(void)
{
    uint32_t op = op_of(DIF_FORMAT_RRR);
    bool moves = (op == DIF_OP_add || op == DIF_OP_sub) && r_chance(70);
    bool divides = op == DIF_OP_sdiv || op == DIF_OP_udiv || op == DIF_OP_srem || op == DIF_OP_urem;
    uint32_t a = moves ? held(ADDRESS) : any(),
             b = moves || (divides && r_chance(90)) ? have(SMALL) : any();

    emit(DIF_RRR(op, a, b, target(moves ? ADDRESS : NUMBER)));
}

static void branch(void)
{
    uint32_t left = g.end > g.n + 1 ? g.end - g.n - 1 : 1;

    emit(DIF_RRR(r_chance(60) ? DIF_OP_cmp : DIF_OP_scmp, any(), any(), 0));
    emit(DIF_BRANCH(op_of(DIF_FORMAT_BRANCH), g.n + 1 + r_below(left < 12 ? left : 12)));
}

static void compare(void)
{
    if (r_chance(40)) {
        emit(DIF_RRR(DIF_OP_tst, any(), 0, 0));
    } else if (r_chance(50)) {
        emit(DIF_RRR(DIF_OP_scmp, have(STRING), have(STRING), 0));
    } else {
        emit(DIF_RRR(DIF_OP_cmp, any(), any(), 0));
    }
}

/* Where one may store: scratch, or a variable's data. */
static uint32_t fresh(void)
{
    uint32_t rd;

    for (uint32_t i = 0; i < g.program->nvars && r_chance(60); i++) {
        const struct dif_variable *v = some_variable();
        if (v->type.ref && v->kind == DIF_KIND_SCALAR && v->scope != DIF_SCOPE_THREAD) {
            rd = target(ADDRESS);
            emit(DIF_INDEX(v->scope == DIF_SCOPE_LOCAL ? DIF_OP_ldls : DIF_OP_ldgs, v->id, rd));
            return rd;
        }
    }
    uint32_t size = have(SMALL);
    rd = target(ADDRESS);
    emit(DIF_RRR(DIF_OP_allocs, size, 0, rd));
    return rd;
}

static void memory(void)
{
    if (r_chance(75)) {
        uint32_t r = r_chance(97) ? have(ADDRESS) : any();
        emit(DIF_RRR(op_of(DIF_FORMAT_LOAD), r, 0, target(r_chance(95) ? NUMBER : ADDRESS)));
    } else {
        uint32_t r = r_chance(60) ? fresh() : held(ADDRESS);
        if (r != 0) {
            emit(DIF_RRR(op_of(DIF_FORMAT_STORE), any(), 0, r));
        }
    }
}

static void scratch(void)
{
    if (r_chance(60)) {
        emit(DIF_RRR(DIF_OP_allocs, have(SMALL), 0, target(ADDRESS)));
    } else {
        uint32_t to = r_chance(70) ? fresh() : held(ADDRESS);
        uint32_t from = have(ADDRESS), size = have(SMALL);
        if (to != 0) {
            emit(DIF_RRR(DIF_OP_copys, from, size, to));
        }
    }
}

static void odd(void)
{
    switch (r_below(6)) {
    case 0:
        emit(DIF_RRR(op_of(DIF_FORMAT_NONE), 0, 0, 0));
        break;
    case 1:
        emit(DIF_RRR(op_of(DIF_FORMAT_LDA), r_below(4), have(SMALL), target(NUMBER)));
        break;
    case 2:
        emit(DIF_RRR(DIF_OP_mov, any(), 0, target(NUMBER)));
        break;
    case 3:
        emit(DIF_RRR(DIF_OP_not, any(), 0, target(NUMBER)));
        break;
    case 4:
        for (uint32_t i = r_chance(90) ? 1 : 1 + r_below(10); i > 0; i--) {
            push_of((enum holds)r_below(4));
        }
        break;
    default:
        if (r_chance(20)) {
            emit(DIF_RRR(DIF_OP_ret, 0, 0, any()));
        }
    }
}

static void some_instruction(void)
{
    const struct dif_variable *v = some_variable();
    uint32_t what = r_below(100);

    if (what < 12) {
        load_constant((enum holds)r_below(3));
    } else if (what < 18) {
        load_string();
    } else if (what < 25) {
        builtin();
    } else if (what < 45) {
        if (v) {
            use_variable(v, r_chance(50));
        }
    } else if (what < 54) {
        calculate();
    } else if (what < 60) {
        compare();
    } else if (what < 66) {
        branch();
    } else if (what < 74) {
        memory();
    } else if (what < 80) {
        scratch();
    } else if (what < 96) {
        call();
    } else {
        odd();
    }
}

/* Branches that lead after the end lead to it. */
static void finish(void)
{
    g.o->text[g.n++] = DIF_RRR(DIF_OP_ret, 0, 0, any()); /* emit() left room */
    for (uint32_t i = 0; i < g.n; i++) {
        if (formats[DIF_INSN_OP(g.o->text[i])] == DIF_FORMAT_BRANCH &&
            DIF_INSN_LABEL(g.o->text[i]) >= g.n) {
            g.o->text[i] = DIF_BRANCH(DIF_INSN_OP(g.o->text[i]), g.n - 1);
        }
    }
}

void p_result(struct p_object *o, struct dif_type type)
{
    o->object.result = type;
}

void p_object(struct program *p, uint32_t n, unsigned length)
{
    struct p_object *o = &p->objects[n];

    g.program = p;
    g.o = o;
    g.n = 0;
    g.end = length < P_TEXT - 12 ? length : P_TEXT - 12;
    memset(g.holds, 0, sizeof(g.holds));
    o->object = (struct dif_object){
        .text = o->text, .ints = o->ints, .strings = o->strings, .vars = o->vars};
    memcpy(o->vars, p->vars, sizeof(p->vars));
    o->object.nvars = p->nvars;
    o->object.result = (struct dif_type){.size = 8};
    strings(o);
    while (g.n < g.end) {
        some_instruction();
    }
    finish();
    o->object.ntext = g.n;
}

/* ---- damage ------------------------------------------------------------------------ */

static void damage_instruction(dif_insn *i)
{
    uint32_t shift = 8 * r_below(4);

    switch (r_below(4)) {
    case 0: /* a bit */
        *i ^= 1u << r_below(32);
        break;
    case 1: /* a field, likely in range */
        *i = (*i & ~(0xffu << shift)) | r_below(shift == 24 ? 80 : 9) << shift;
        break;
    case 2:
        *i = (*i & 0xff000000u) | (uint32_t)(r_next() & 0xffffff);
        break;
    default:
        *i = (uint32_t)r_next();
    }
}

void p_damage(struct p_object *o)
{
    uint8_t *v = (uint8_t *)&o->vars[o->object.nvars ? r_below(o->object.nvars) : 0];

    switch (r_below(12)) {
    case 0:
        if (o->object.nvars) {
            v[r_below(sizeof(struct dif_variable))] ^= (uint8_t)(1u << r_below(8));
        }
        break;
    case 1:
        ((uint8_t *)&o->object.result)[r_below(sizeof(struct dif_type))] ^=
            (uint8_t)(1u << r_below(8));
        break;
    case 2:
        o->strings[r_below(o->object.strings_size)] ^= (char)(1 << r_below(8));
        break;
    case 3:
        o->object.ntext -= o->object.ntext > 1;
        break;
    default:
        damage_instruction(&o->text[r_below(o->object.ntext)]);
    }
}

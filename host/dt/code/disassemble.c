/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -S: objects as text, in the layout that dtrace(1M) has.
 */
#include "host/dt/code/code.h"

static const struct op {
    const char *name;
    enum dif_format form;
} ops[DIF_OP_MAX + 1] = {
#define DIF_OP(number, name, format, doc) [number] = {#name, DIF_FORMAT_##format},
#include "trace/dtrace/opcodes.def"
};

static enum dif_scope disassemble_scope_of(uint32_t op)
{
    switch (op) {
    case DIF_OP_ldts:
    case DIF_OP_stts:
    case DIF_OP_ldtaa:
    case DIF_OP_sttaa:
    case DIF_OP_ldta:
        return DIF_SCOPE_THREAD;
    case DIF_OP_ldls:
    case DIF_OP_stls:
        return DIF_SCOPE_LOCAL;
    default:
        return DIF_SCOPE_GLOBAL;
    }
}

static const char *const disassemble_subroutine_names[DIF_SUBR_MAX + 1] = {
#define DIF_SUBR(number, name, result, args, cost, doc) [number] = #name,
#include "trace/dtrace/opcodes.def"
};

static const char *variable_name(const struct dif_object *o, uint32_t op, uint32_t id)
{
    const char *name = NULL;

    switch (id) {
#define DIF_VAR(number, builtin, kind, type, doc) \
    case number: \
        name = #builtin; \
        break;
#include "trace/dtrace/opcodes.def"
    default:
        break;
    }
    for (uint32_t i = 0; i < o->nvars; i++) {
        if (o->vars[i].id == id && o->vars[i].scope == disassemble_scope_of(op)) {
            name = o->strings + o->vars[i].name;
        }
    }
    return name ? name : "?";
}

static void disassemble_print_string(const char *text, FILE *out)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '\n') {
            fputs("\\n", out);
        } else if (*text == '\t') {
            fputs("\\t", out);
        } else {
            putc((unsigned char)*text < ' ' ? '.' : *text, out);
        }
    }
    putc('"', out);
}

static void disassemble_print_variable(const struct dif_object *o, uint32_t op, uint32_t id,
                                       FILE *out)
{
    fprintf(out, "\t\t! DT_VAR(%u) = \"%s\"", id, variable_name(o, op, id));
}

/* %a, %b, %d: the registers r1, r2, rd; %v: the number r1, %i: the index, %l: the label. */
static const char *const disassemble_operand_forms[] = {
    [DIF_FORMAT_BAD] = "",
    [DIF_FORMAT_NONE] = "",
    [DIF_FORMAT_RRR] = "%a, %b, %d",
    [DIF_FORMAT_RR] = "%a, %d",
    [DIF_FORMAT_CMP] = "%a, %b",
    [DIF_FORMAT_TST] = "%a",
    [DIF_FORMAT_BRANCH] = "%l",
    [DIF_FORMAT_LOAD] = "[%a], %d",
    [DIF_FORMAT_STORE] = "%a, [%d]",
    [DIF_FORMAT_RET] = "%d",
    [DIF_FORMAT_SETX] = "DT_INTEGER[%i], %d",
    [DIF_FORMAT_SETS] = "DT_STRING[%i], %d",
    [DIF_FORMAT_LDA] = "DT_VAR(%v), %b, %d",
    [DIF_FORMAT_LDV] = "DT_VAR(%i), %d",
    [DIF_FORMAT_STV] = "%d, DT_VAR(%i)",
    [DIF_FORMAT_CALL] = "DIF_SUBR(%i), %d",
    [DIF_FORMAT_PUSHR] = "DT_TYPE(%v), %b, %d",
    [DIF_FORMAT_PUSHV] = "DT_TYPE(%v), %b, %d",
    [DIF_FORMAT_COPY] = "%a, %b, %d",
    [DIF_FORMAT_XLATE] = "",
};

static void print_operands(enum dif_format form, dif_insn i, FILE *out)
{
    for (const char *p = disassemble_operand_forms[form]; *p; p++) {
        if (*p == '%') {
            switch (*++p) {
            case 'a':
                fprintf(out, "%%r%u", (unsigned)DIF_INSN_R1(i));
                break;
            case 'b':
                fprintf(out, "%%r%u", (unsigned)DIF_INSN_R2(i));
                break;
            case 'd':
                fprintf(out, "%%r%u", (unsigned)DIF_INSN_RD(i));
                break;
            case 'v':
                fprintf(out, "%u", (unsigned)DIF_INSN_R1(i));
                break;
            case 'i':
                fprintf(out, "%u", (unsigned)DIF_INSN_INDEX(i));
                break;
            default:
                fprintf(out, "%u", (unsigned)DIF_INSN_LABEL(i));
            }
        } else {
            putc(*p, out);
        }
    }
}

/* Prints the meaning of the numbers. */
static void print_meaning(const struct dif_object *o, dif_insn i, FILE *out)
{
    unsigned op = DIF_INSN_OP(i), r1 = DIF_INSN_R1(i), index = DIF_INSN_INDEX(i);

    switch (ops[op].form) {
    case DIF_FORMAT_SETX:
        if (index < o->nints) {
            fprintf(out, "\t\t! 0x%llx", (unsigned long long)o->ints[index]);
        }
        break;
    case DIF_FORMAT_SETS:
        if (index < o->strings_size) {
            fputs("\t\t! ", out);
            disassemble_print_string(o->strings + index, out);
        }
        break;
    case DIF_FORMAT_LDA:
        disassemble_print_variable(o, op, r1, out);
        break;
    case DIF_FORMAT_LDV:
    case DIF_FORMAT_STV:
        disassemble_print_variable(o, op, index, out);
        break;
    case DIF_FORMAT_CALL:
        fprintf(out, "\t\t! %s", index <= DIF_SUBR_MAX ? disassemble_subroutine_names[index] : "?");
        break;
    case DIF_FORMAT_PUSHR:
    case DIF_FORMAT_PUSHV:
        fprintf(out, "\t\t! DT_TYPE(%u) = %s", r1, r1 == DIF_TYPE_STRING ? "string" : "D type");
        break;
    default:
        break;
    }
}

/* "D type (integer) (size 4)", "string (unknown) by ref (size 256)" */
static void print_type(struct dt_session *d, const struct dt_type *type, FILE *out)
{
    static const char *const kinds[] = {
        [DT_TYPE_FLOAT] = "float",       [DT_TYPE_POINTER] = "pointer", [DT_TYPE_ARRAY] = "array",
        [DT_TYPE_FUNCTION] = "function", [DT_TYPE_STRUCT] = "struct",   [DT_TYPE_UNION] = "union",
        [DT_TYPE_ENUM] = "enum",         [DT_TYPE_USYMADDR] = NULL,
    };
    const struct dt_type *t = dt_type_resolve(type);

    if (t->kind == DT_TYPE_STRING) {
        fprintf(out, "string (unknown) by ref (size %llu)\n",
                (unsigned long long)dtrace_option(d, "strsize"));
        return;
    }
    fprintf(out, "D type (%s)%s (size %llu)\n", kinds[t->kind] ? kinds[t->kind] : "integer",
            dt_dif_type(t).ref ? " by ref" : "", (unsigned long long)t->size);
}

static void print_variables(struct dt_session *d, const struct dt_made_object *made, FILE *out)
{
    const struct dif_object *o = &made->dif;

    static const char *const scopes[] = {"glb", "tls", "loc"};
    static const char *const flags[] = {"", "r", "w", "rw"};

    if (o->nvars == 0) {
        return;
    }
    fprintf(out, "\n%-16s %-4s %-3s %-3s %-4s %s\n", "NAME", "ID", "KND", "SCP", "FLAG", "TYPE");
    for (uint32_t i = 0; i < o->nvars; i++) {
        const struct dif_variable *v = &o->vars[i];
        fprintf(out, "%-16s %-4x %-3s %-3s %-4s ", o->strings + v->name, v->id,
                v->kind == DIF_KIND_ARRAY ? "arr" : "scl", scopes[v->scope], flags[v->flags & 3]);
        print_type(d, made->var_types[i], out);
    }
}

static void disassemble_print_object(struct dt_session *d, const struct dt_made_object *made,
                                     FILE *out)
{
    const struct dif_object *o = &made->dif;

    fprintf(out, "\nDIFO %p returns ", (const void *)o);
    print_type(d, made->result, out);
    fprintf(out, "%-3s %-11s %s\n", "OFF", "OPCODE", "INSTRUCTION");
    for (uint32_t i = 0; i < o->ntext; i++) {
        dif_insn insn = o->text[i];
        unsigned op = DIF_INSN_OP(insn);
        fprintf(out, "%02u: %08x    ", i, insn);
        if (op == 0 || op > DIF_OP_MAX || !ops[op].name) {
            fputs("?\n", out);
            continue;
        }
        if (ops[op].form == DIF_FORMAT_NONE) {
            fputs(ops[op].name, out);
        } else {
            fprintf(out, "%-4s ", ops[op].name);
            print_operands(ops[op].form, insn, out);
            print_meaning(o, insn, out);
        }
        putc('\n', out);
    }
    print_variables(d, made, out);
}

void dt_program_disassemble(const struct dt_program *p, FILE *out)
{
    const struct dt_made_object *objects = p->objects.data;

    for (unsigned i = 0; i < p->objects.n; i++) {
        disassemble_print_object(p->session, &objects[i], out);
    }
}

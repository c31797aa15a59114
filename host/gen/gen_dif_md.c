/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints docs/reference/dif.md from trace/dtrace/opcodes.def. Run by `make docs`; the build checks
 * that the committed page is what this prints.
 */
#include "host/gen/gen.h"
#include "host/dt/registers.h"

#include <stdbool.h>

/* clang-format off */
static const struct op {
    unsigned number;
    const char *name, *format, *doc;
} ops[] = {
#define DIF_OP(number, name, format, doc) {number, #name, #format, doc},
#include "trace/dtrace/opcodes.def"
};

static const struct variable {
    unsigned number;
    const char *name, *kind, *type, *doc;
} variables[] = {
#define DIF_VAR(number, name, kind, type, doc) {number, #name, #kind, type, doc},
#include "trace/dtrace/opcodes.def"
};

static const struct subroutine {
    unsigned number;
    const char *name, *result, *args, *cost, *doc;
} subroutines[] = {
#define DIF_SUBR(number, name, result, args, cost, doc) {number, #name, result, args, #cost, doc},
#include "trace/dtrace/opcodes.def"
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const dif_md_operand_words[][2] = {
    {"RRR", "r1, r2, rd"},
    {"RR", "r1, rd"},
    {"CMP", "r1, r2"},
    {"TST", "r1"},
    {"BRANCH", "label"},
    {"LOAD", "[r1], rd"},
    {"STORE", "r1, [rd]"},
    {"RET", "rd"},
    {"NONE", ""},
    {"SETX", "integer, rd"},
    {"SETS", "string, rd"},
    {"LDA", "variable[r2], rd"},
    {"LDV", "variable, rd"},
    {"STV", "variable, rs"},
    {"CALL", "subroutine, rd"},
    {"PUSHR", "type, r2, rs"},
    {"PUSHV", "type, r2, rs"},
    {"COPY", "[r1], r2, [rd]"},
    {"XLATE", "the compiler's own"},
};

static const char *const dif_md_cost_words[][2] = {
    {"CONST", "0"},        {"DIGITS", "128"},     {"NSPEC", "nspec"},
    {"STR", "strsize"},    {"STR2", "2 strsize"}, {"STRSTR", "strsize²"},
    {"SIZE0", "its size"}, {"SIZE1", "its size"}, {"SIZE2", "its size"},
};

static const char dif_md_page_head[] =
    "# DIF, D's intermediate format\n"
    "\n"
    "This page is for those who read `kymo dtrace -S`, or write another compiler for the machine.\n"
    "Generated from `trace/dtrace/opcodes.def` by `make docs`; change the table, not this page.\n"
    "\n"
    "The D compiler translates a predicate or an action's argument into a DIF object: "
    "instructions\n"
    "of 32 bits, a table of 64-bit integers, one of strings, one of variables, and the type of "
    "the\n"
    "result. The numbers are those that DTrace published. The machine (`trace/dtrace/`) validates "
    "every\n"
    "object when it is loaded, and runs it when its probe fires; `kymo dtrace -S` prints it.\n"
    "\n"
    "There are eight registers of 64 bits. `r0` reads as 0 and can't be written; the others are 0 "
    "at\n"
    "the start. Arithmetic wraps; signed division is C's, toward 0, and the smallest number "
    "divided\n"
    "by -1 is itself. Branches lead forward only, so every object ends. The result of a comparison "
    "is\n"
    "kept until the next one; signed branches compare as C does, also where the difference "
    "overflows.\n"
    "\n"
    "A fault ends the clause: its record is abandoned and the probe ERROR fires. Loads fault "
    "unless\n"
    "the memory is mapped, allowed and (on a board) aligned; stores go only to scratch memory that "
    "the\n"
    "clause has allocated and to the program's own variables.\n"
    "\n"
    "## Instructions\n"
    "\n"
    "`op` is the highest byte. Register `r1` is in bits 16-23, `r2` in 8-15, `rd` or `rs` in 0-7. "
    "A\n"
    "label is the index of an instruction, in bits 0-23. The index of an integer, a string, a "
    "variable\n"
    "or a subroutine is in bits 8-23. The array of `ldga` is in bits 16-23, and so is the type of "
    "a\n"
    "push (0 a C datum, 1 a string). Unused bits are 0.\n"
    "\n"
    "| op | name | operands | meaning |\n"
    "|---:|---|---|---|\n";

static const char variables_head[] = "\n"
                                     "## Built-in variables\n"
                                     "\n"
                                     "The ids of a program's own variables begin at 0x500. Scalars "
                                     "are read by `ldgs`, arrays by `ldga`.\n"
                                     "\n"
                                     "| id | name | type | meaning |\n"
                                     "|---:|---|---|---|\n";

static const char registers_head[] =
    "\n"
    "## Registers\n"
    "\n"
    "`uregs[]` has a thread's registers as they are in its program: where it met a probe of the "
    "provider\n"
    "`pid`, called the kernel, faulted or was interrupted. D has a constant for each index, by the "
    "target's\n"
    "CPU. A register that the place doesn't have is an illegal operation, which names it (`arg5` "
    "of "
    "ERROR\n"
    "is the array's id << 32, and the index): in a kernel call only those are known that a call "
    "keeps (on\n"
    "Cortex-M all), in an interrupt on Cortex-M not `R_R4` to `R_R11`, in a thread of the kernel "
    "none.\n"
    "`regs[]` has none.\n"
    "\n"
    "| index |";

static const char subroutines_head[] =
    "\n"
    "## Subroutines\n"
    "\n"
    "Arguments are pushed from left to right. *Steps* is the cost of a call in the static bound of "
    "a\n"
    "clause (`kymo dtrace -e -v`), in addition to the instruction itself. Subroutines without a\n"
    "prototype do not exist on Kymo: calling one is an illegal operation. A small board may leave "
    "out\n"
    "`json`, `strtoll` and `inet_*`.\n"
    "\n"
    "| number | prototype | steps | meaning |\n"
    "|---:|---|---|---|\n";

/* The words for a name of the tables; the name itself if there are none. */
static const char *dif_md_words_of(const char *const (*table)[2], size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(table[i][0], name) == 0) {
            return table[i][1];
        }
    }
    return name;
}

static void print_op(const struct op *op)
{
    struct gen_row out = {0};

    snprintf(gen_new_cell(&out), GEN_TEXT, "%u", op->number);
    gen_code(&out, op->name);
    gen_cell(&out, dif_md_words_of(dif_md_operand_words, COUNT(dif_md_operand_words), op->format));
    gen_cell(&out, op->doc);
    gen_print(&out);
}

static void dif_md_print_variable(const struct variable *v)
{
    struct gen_row out = {0};
    bool array = strcmp(v->kind, "ARRAY") == 0;

    snprintf(gen_new_cell(&out), GEN_TEXT, "0x%03x", v->number);
    snprintf(gen_new_cell(&out), GEN_TEXT, "`%s%s`", v->name, array ? "[]" : "");
    gen_code(&out, v->type);
    gen_cell(&out, v->doc);
    gen_print(&out);
}

/* The constants of an index, those that several CPUs share after the CPU's own. */
static void register_cell(struct gen_row *out, const struct dt_registers *r, unsigned index)
{
    char name[DT_REGISTER_NAME];

    if (index >= r->count || !dt_register_name(r->machine, index, name)) {
        gen_cell(out, "");
        return;
    }
    char *cell = gen_new_cell(out);
    snprintf(cell, GEN_TEXT, "`%s`", name);
    for (const struct dt_register_alias *a = r->shared; a->name; a++) {
        if (a->index == index) {
            gen_append(cell, ", `");
            gen_append(cell, a->name);
            gen_append(cell, "`");
        }
    }
}

static void dif_md_print_registers(void)
{
    const struct dt_registers *all = dt_registers_all;
    unsigned most = 0;

    fputs(registers_head, stdout);
    for (const struct dt_registers *r = all; r->cpu; r++) {
        printf(" %s |", r->cpu);
        most = r->count > most ? r->count : most;
    }
    fputs("\n|---:|", stdout);
    for (const struct dt_registers *r = all; r->cpu; r++) {
        fputs("---|", stdout);
    }
    fputs("\n", stdout);
    for (unsigned i = 0; i < most; i++) {
        struct gen_row out = {0};
        snprintf(gen_new_cell(&out), GEN_TEXT, "%u", i);
        for (const struct dt_registers *r = all; r->cpu; r++) {
            register_cell(&out, r, i);
        }
        gen_print(&out);
    }
}

static void print_subroutine(const struct subroutine *s)
{
    struct gen_row out = {0};
    bool blank = s->result[0] == '\0' || s->result[strlen(s->result) - 1] == '*';
    char *prototype;

    snprintf(gen_new_cell(&out), GEN_TEXT, "%u", s->number);
    prototype = gen_new_cell(&out);
    snprintf(prototype, GEN_TEXT, "`%s%s%s", s->result, blank ? "" : " ", s->name);
    if (s->result[0] != '\0') {
        gen_append(prototype, "(");
        gen_append(prototype, s->args);
        gen_append(prototype, ")");
    }
    gen_append(prototype, "`");
    gen_cell(&out, s->result[0] != '\0'
                       ? dif_md_words_of(dif_md_cost_words, COUNT(dif_md_cost_words), s->cost)
                       : "-");
    gen_cell(&out, s->doc);
    gen_print(&out);
}

int main(void)
{
    fputs(dif_md_page_head, stdout);
    for (size_t i = 0; i < COUNT(ops); i++) {
        print_op(&ops[i]);
    }
    fputs(variables_head, stdout);
    for (size_t i = 0; i < COUNT(variables); i++) {
        dif_md_print_variable(&variables[i]);
    }
    dif_md_print_registers();
    fputs(subroutines_head, stdout);
    for (size_t i = 0; i < COUNT(subroutines); i++) {
        print_subroutine(&subroutines[i]);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

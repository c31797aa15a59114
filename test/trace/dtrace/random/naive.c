/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The naive interpreter: instructions. See naive.h.
 */
#include "test/trace/dtrace/random/naive.h"

#include <string.h>

void n_fault(struct naive *n, int kind, uint64_t address)
{
    if (n->fault == DIF_FAULT_NONE) {
        n->fault = kind;
        n->fault_address = address;
    }
}

void n_firing(struct naive *n)
{
    n->strtok = 0;
}

void n_clause(struct naive *n)
{
    n->scratch_used = 0;
    n->windows = 0;
    n->present = 0;
    n->fault = DIF_FAULT_NONE;
}

/* As the manual has them: of left - right. */
struct flags {
    bool negative, zero, overflow, carry;
};

static struct flags compare(uint64_t left, uint64_t right)
{
    int64_t difference;
    bool overflow = __builtin_sub_overflow((int64_t)left, (int64_t)right, &difference);

    return (struct flags){difference < 0, left == right, overflow, left < right};
}

static bool taken(uint32_t op, struct flags f)
{
    bool less = f.negative != f.overflow;

    switch (op) {
    case DIF_OP_ba:
        return true;
    case DIF_OP_be:
        return f.zero;
    case DIF_OP_bne:
        return !f.zero;
    case DIF_OP_bg:
        return !less && !f.zero;
    case DIF_OP_bge:
        return !less;
    case DIF_OP_bl:
        return less;
    case DIF_OP_ble:
        return less || f.zero;
    case DIF_OP_bgu:
        return !f.carry && !f.zero;
    case DIF_OP_bgeu:
        return !f.carry;
    case DIF_OP_blu:
        return f.carry;
    default:
        return f.carry || f.zero;
    }
}

static uint64_t divide(struct naive *n, uint32_t op, uint64_t a, uint64_t b)
{
    if (b == 0) {
        n_fault(n, DIF_FAULT_DIVZERO, 0);
        return 0;
    }
    switch (op) {
    case DIF_OP_udiv:
        return a / b;
    case DIF_OP_urem:
        return a % b;
    case DIF_OP_sdiv:
        return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
    default:
        return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
    }
}

static uint64_t arithmetic(struct naive *n, uint32_t op, uint64_t a, uint64_t b)
{
    switch (op) {
    case DIF_OP_or:
        return a | b;
    case DIF_OP_xor:
        return a ^ b;
    case DIF_OP_and:
        return a & b;
    case DIF_OP_sll:
        return a << b % 64;
    case DIF_OP_srl:
        return a >> b % 64;
    case DIF_OP_sra:
        return a >> 63 ? ~(~a >> b % 64) : a >> b % 64;
    case DIF_OP_sub:
        return a - b;
    case DIF_OP_add:
        return a + b;
    case DIF_OP_mul:
        return a * b;
    default:
        return divide(n, op, a, b);
    }
}

/* Strings: NULL is an empty one. Looks no further than it must. */
static int compare_strings(struct naive *n, uint64_t a, uint64_t b)
{
    for (size_t i = 0; i < n->strsize; i++) {
        uint8_t x = 0, y = 0;
        if ((a && !n_byte(n, a + i, false, &x)) || (b && !n_byte(n, b + i, false, &y))) {
            return 0;
        }
        if (x != y || x == 0) {
            return x - y;
        }
    }
    return 0;
}

static void push(struct naive *n, bool ref, bool string, uint64_t value, uint64_t size)
{
    if (n->nkeys == N_KEYS) {
        n_fault(n, DIF_FAULT_TUPOFLOW, 0);
        return;
    }
    if (string) {
        size = n_text(n, value, size && size < n->strsize ? size : n->strsize, false, NULL);
    } else if (ref && size > DIF_STATIC_VAR_MAX) {
        n_fault(n, DIF_FAULT_ILLOP, 0);
        return;
    }
    n->keys[n->nkeys++] = (struct n_key){ref, string, value, (size_t)size};
}

static uint64_t allocate(struct naive *n, uint64_t bytes)
{
    uint64_t at = n_scratch(n, bytes);

    for (uint64_t i = 0; at && i < bytes; i++) {
        *n_at(n, at + i) = 0;
    }
    return at;
}

/* ---- loads and stores by name ------------------------------------------------------ */

/* [u|r]ld[s|u][b|h|w], …ldx, st… */
static unsigned bytes_of(const char *name)
{
    switch (name[strlen(name) - 1]) {
    case 'b':
        return 1;
    case 'h':
        return 2;
    case 'w':
        return 4;
    default:
        return 8;
    }
}

static uint64_t load(struct naive *n, const char *name, uint64_t address)
{
    size_t length = strlen(name);
    bool sign = name[length - 2] == 's';

    return n_load(n, address, bytes_of(name), sign, name[0]);
}

/* ---- one instruction --------------------------------------------------------------- */

const struct n_op n_ops[256] = {
#define DIF_OP(number, name, format, doc) [number] = {DIF_FORMAT_##format, #name},
#include "trace/dtrace/opcodes.def"
};

/* ldgs, ldts, ldls, ldgaa … : by their third letter, and arrays end in aa. */
static uint8_t scope_of(const char *name)
{
    return name[2] == 'g' ? DIF_SCOPE_GLOBAL : name[2] == 't' ? DIF_SCOPE_THREAD : DIF_SCOPE_LOCAL;
}

static uint8_t kind_of(const char *name)
{
    return name[3] == 'a' ? DIF_KIND_ARRAY : DIF_KIND_SCALAR;
}

static uint64_t variable(struct naive *n, const char *name, uint16_t id)
{
    return id < DIF_VAR_OTHER_USER ? n_builtin(n, id) : n_get(n, scope_of(name), kind_of(name), id);
}

static void no_operand(struct naive *n, uint32_t op)
{
    if (op == DIF_OP_popts && n->nkeys) {
        n->nkeys--;
    } else if (op == DIF_OP_flushts) {
        n->nkeys = 0;
    }
}

struct cpu {
    uint64_t r[8];
    struct flags flags;
    uint32_t pc;
};

/* What touches memory, variables and the stack of arguments. */
static void execute_memory(struct naive *n, struct cpu *c, uint32_t i)
{
    uint32_t op = i >> 24, r1 = i >> 16 & 7, r2 = i >> 8 & 7, index = i >> 8 & 0xffff;
    const char *name = n_ops[op].name;
    uint64_t *rd = &c->r[i & 7];

    switch (n_ops[op].format) {
    case DIF_FORMAT_LOAD:
        *rd = load(n, name, c->r[r1]);
        break;
    case DIF_FORMAT_STORE:
        n_store(n, *rd, c->r[r1], bytes_of(name));
        break;
    case DIF_FORMAT_LDA:
        if (op == DIF_OP_ldta) {
            n_fault(n, DIF_FAULT_ILLOP, 0);
        } else {
            *rd = n_builtin_array(n, i >> 16 & 0xff, c->r[r2]);
        }
        break;
    case DIF_FORMAT_LDV:
        *rd = variable(n, name, (uint16_t)index);
        break;
    case DIF_FORMAT_STV:
        n_set(n, scope_of(name), kind_of(name), (uint16_t)index, *rd);
        break;
    case DIF_FORMAT_CALL:
        *rd = n_subr(n, index);
        break;
    case DIF_FORMAT_PUSHR:
        push(n, true, r1 == DIF_TYPE_STRING, *rd, c->r[r2]);
        break;
    case DIF_FORMAT_PUSHV:
        push(n, false, false, *rd, 8);
        break;
    case DIF_FORMAT_COPY:
        n_copy(n, *rd, c->r[r1], c->r[r2], false, true);
        break;
    default:
        n_fault(n, DIF_FAULT_ILLOP, 0);
    }
}

static void execute(struct naive *n, const struct dif_object *o, struct cpu *c, uint32_t i)
{
    uint32_t op = i >> 24, r1 = i >> 16 & 7, r2 = i >> 8 & 7, index = i >> 8 & 0xffff;
    uint64_t *rd = &c->r[i & 7];

    switch (n_ops[op].format) {
    case DIF_FORMAT_RRR:
        *rd = arithmetic(n, op, c->r[r1], c->r[r2]);
        break;
    case DIF_FORMAT_RR:
        *rd = op == DIF_OP_not ? ~c->r[r1] : op == DIF_OP_mov ? c->r[r1] : allocate(n, c->r[r1]);
        break;
    case DIF_FORMAT_CMP:
        c->flags = op == DIF_OP_cmp ? compare(c->r[r1], c->r[r2])
                                    : compare((uint64_t)compare_strings(n, c->r[r1], c->r[r2]), 0);
        break;
    case DIF_FORMAT_TST:
        c->flags = compare(c->r[r1], 0);
        break;
    case DIF_FORMAT_BRANCH:
        c->pc = taken(op, c->flags) ? (i & 0xffffff) - 1 : c->pc;
        break;
    case DIF_FORMAT_NONE:
        no_operand(n, op);
        break;
    case DIF_FORMAT_SETX:
        *rd = o->ints[index];
        break;
    case DIF_FORMAT_SETS:
        *rd = (uintptr_t)o->strings + index;
        break;
    default:
        execute_memory(n, c, i);
    }
}

uint64_t n_run(struct naive *n, const struct dif_object *o)
{
    struct cpu c = {.flags = compare(0, 0)};

    n->nkeys = 0;
    for (c.pc = 0;; c.pc++) {
        uint32_t i = o->text[c.pc], at = c.pc;
        if (n_ops[i >> 24].format == DIF_FORMAT_RET) {
            return c.r[i & 7];
        }
        execute(n, o, &c, i);
        if (n->fault != DIF_FAULT_NONE) {
            n->fault_offset = at * 4;
            return 0;
        }
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of d_validate(): the rules for what an object declares. Each gives 0, or the reason for
 * a refusal. Control context.
 */
#ifndef TRACE_D_VALIDATE_H
#define TRACE_D_VALIDATE_H

#include "trace/d/d.h"

/* What the operands of an instruction are: opcodes.def. */
enum d_format {
    D_FORMAT_BAD, /* no such opcode */
    D_FORMAT_RRR,
    D_FORMAT_RR,
    D_FORMAT_CMP,
    D_FORMAT_TST,
    D_FORMAT_BRANCH,
    D_FORMAT_LOAD,
    D_FORMAT_STORE,
    D_FORMAT_RET,
    D_FORMAT_NONE,
    D_FORMAT_SETX,
    D_FORMAT_SETS,
    D_FORMAT_LDA,
    D_FORMAT_LDV,
    D_FORMAT_STV,
    D_FORMAT_CALL,
    D_FORMAT_PUSHR,
    D_FORMAT_PUSHV,
    D_FORMAT_COPY,
    D_FORMAT_XLATE,
};
extern const uint8_t d_formats[DIF_OP_MAX + 1];

/* Whether rd is a register that gets a value. */
static inline bool d_format_writes(uint8_t format)
{
    return format == D_FORMAT_RRR || format == D_FORMAT_RR || format == D_FORMAT_LOAD ||
           format == D_FORMAT_SETX || format == D_FORMAT_SETS || format == D_FORMAT_LDA ||
           format == D_FORMAT_LDV || format == D_FORMAT_CALL;
}

enum d_reason d_validate_variable(const struct dif_object *, const struct dif_variable *);
enum d_reason d_validate_result(const struct dif_type *);
/* Whether the object declares this variable so. */
enum d_reason d_validate_use(const struct dif_object *, uint32_t id, enum dif_scope,
                             enum dif_var_kind);
#endif

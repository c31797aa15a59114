/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal to dtrace_validate(): the rules for an object's declarations. Each function returns 0 or
 * the reason for a refusal. Control context.
 */
#ifndef TRACE_DTRACE_VALIDATE_H
#define TRACE_DTRACE_VALIDATE_H

#include "trace/dtrace/dtrace.h"

/* The operands of each instruction, from opcodes.def. */
extern const uint8_t dtrace_formats[DIF_OP_MAX + 1];

/* Returns whether rd is a register that the instruction writes. */
static inline bool dtrace_format_writes(uint8_t format)
{
    return format == DIF_FORMAT_RRR || format == DIF_FORMAT_RR || format == DIF_FORMAT_LOAD ||
           format == DIF_FORMAT_SETX || format == DIF_FORMAT_SETS || format == DIF_FORMAT_LDA ||
           format == DIF_FORMAT_LDV || format == DIF_FORMAT_CALL;
}

enum dtrace_reason dtrace_validate_variable(const struct dif_object *, const struct dif_variable *);
enum dtrace_reason dtrace_validate_result(const struct dif_type *);
/* Checks that the object declares this variable with these attributes. */
enum dtrace_reason dtrace_validate_use(const struct dif_object *, uint32_t id, enum dif_scope,
                                       enum dif_var_kind);
#endif

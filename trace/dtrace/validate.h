/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of dtrace_validate(): the rules for what an object declares. Each gives 0, or the reason
 * for a refusal. Control context.
 */
#ifndef TRACE_DTRACE_VALIDATE_H
#define TRACE_DTRACE_VALIDATE_H

#include "trace/dtrace/dtrace.h"

/* What the operands of an instruction are: opcodes.def. */
extern const uint8_t dtrace_formats[DIF_OP_MAX + 1];

/* Whether rd is a register that gets a value. */
static inline bool dtrace_format_writes(uint8_t format)
{
    return format == DIF_FORMAT_RRR || format == DIF_FORMAT_RR || format == DIF_FORMAT_LOAD ||
           format == DIF_FORMAT_SETX || format == DIF_FORMAT_SETS || format == DIF_FORMAT_LDA ||
           format == DIF_FORMAT_LDV || format == DIF_FORMAT_CALL;
}

enum dtrace_reason dtrace_validate_variable(const struct dif_object *, const struct dif_variable *);
enum dtrace_reason dtrace_validate_result(const struct dif_type *);
/* Whether the object declares this variable so. */
enum dtrace_reason dtrace_validate_use(const struct dif_object *, uint32_t id, enum dif_scope,
                                       enum dif_var_kind);
#endif

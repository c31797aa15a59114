/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The restrictions of helpers, see helper.h: lists of allowed instructions, variables and
 * subroutines. Not allowed are operations that take the square of a string's length, and stores to
 * addresses. Shared by compiler and machine. Control context. Tested by
 * test/trace/dtrace/machine/helper_test.c.
 */
#include "trace/dtrace/helper.h"

static bool helper_may_load(uint32_t variable)
{
    switch (variable) {
    case DIF_VAR_arg0:
    case DIF_VAR_arg1:
    case DIF_VAR_arg2:
    case DIF_VAR_arg3:
    case DIF_VAR_pid:
    case DIF_VAR_tid:
    case DIF_VAR_execname:
        return true;
    default:
        return false;
    }
}

static bool helper_may_call(uint32_t subroutine)
{
    switch (subroutine) {
    case DIF_SUBR_copyin:
    case DIF_SUBR_copyinstr:
    case DIF_SUBR_strlen:
    case DIF_SUBR_strjoin:
    case DIF_SUBR_strchr:
    case DIF_SUBR_strrchr:
    case DIF_SUBR_substr:
    case DIF_SUBR_basename:
    case DIF_SUBR_lltostr:
    case DIF_SUBR_toupper:
    case DIF_SUBR_tolower:
    case DIF_SUBR_htons:
    case DIF_SUBR_htonl:
    case DIF_SUBR_htonll:
    case DIF_SUBR_ntohs:
    case DIF_SUBR_ntohl:
    case DIF_SUBR_ntohll:
        return true;
    default:
        return false;
    }
}

static bool helper_may(dif_insn i)
{
    switch (DIF_INSN_OP(i)) {
    case DIF_OP_ldgs:
        return helper_may_load(DIF_INSN_INDEX(i));
    case DIF_OP_call:
        return helper_may_call(DIF_INSN_INDEX(i));
    case DIF_OP_ldga:
    case DIF_OP_stgs:
    case DIF_OP_ldta:
    case DIF_OP_ldts:
    case DIF_OP_stts:
    case DIF_OP_ldgaa:
    case DIF_OP_ldtaa:
    case DIF_OP_stgaa:
    case DIF_OP_sttaa:
    case DIF_OP_allocs:
    case DIF_OP_copys:
    case DIF_OP_stb:
    case DIF_OP_sth:
    case DIF_OP_stw:
    case DIF_OP_stx:
        return false;
    default:
        return true;
    }
}

enum dtrace_reason dtrace_helper_check(const struct dif_object *o, uint32_t *offset)
{
    *offset = UINT32_MAX;
    if (o->result.kind != DIF_TYPE_STRING) {
        return DTRACE_REASON_HELPER;
    }
    for (uint32_t i = 0; i < o->ntext; i++) {
        if (!helper_may(o->text[i])) {
            *offset = i;
            return DTRACE_REASON_HELPER;
        }
    }
    return DTRACE_REASON_NONE;
}

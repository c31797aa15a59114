/* SPDX-License-Identifier: BSD-2-Clause */
/* An empty table: for the first link of the kernel, which determines the functions' addresses. */
#include "kernel/dtrace/fbt_table.h"

const uint8_t fbt_functions[] FBT_TABLE = {0};
const unsigned fbt_function_count = 0;
const uint8_t fbt_names[] FBT_TABLE = {0};
const uint8_t fbt_codes[] FBT_TABLE = {0};
const uint8_t fbt_code_id[20] FBT_TABLE = {0};
const uint32_t kernel_unwind[] FBT_TABLE = {0};
const unsigned kernel_unwind_words = 0;
FBT_SLOTS(0)

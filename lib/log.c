/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <kymo_log.h>: log text whose format stays in the ELF file. Contexts and limits are in the header.
 * Tested by test/board's t_log, test/host/log/.
 */
#include <kymo_log.h>

#include "abi/compiler.h"
#include "abi/sys/neutrino.h"
#include "lib/kercall.h"

volatile uint8_t kymo_log_level = KYMO_LOG_DEBUG;

COLD void kymo_log_string(struct kymo_log *log, const char *text)
{
    /* The following arguments need two words each at most. */
    const unsigned behind = 2 * (log->left - 1);
    const unsigned room = 4 * (KYMO_LOG_WORDS - log->n - 1 - behind);
    uint32_t *at = &log->words[log->n];
    size_t bytes = text == NULL ? 0 : strnlen(text, room + 1);
    uint32_t flags = text == NULL ? KYMO_LOG_NULL : bytes > room ? KYMO_LOG_CUT : 0;

    bytes = bytes > room ? room : bytes;
    at[0] = flags | (uint32_t)bytes;
    at[(bytes + 3) / 4] = bytes > 0 ? 0 : at[0]; /* zeros after the last bytes */
    memcpy(&at[1], text == NULL ? "" : text, bytes);
    log->n += 1 + (unsigned)(bytes + 3) / 4;
    log->left--;
}

void kymo_log_end(const struct kymo_log *log, unsigned code)
{
    if (log->n == 2) {
        trace_logi(code, log->words[0], log->words[1]);
    } else if (kymo_user_wanted == 1) {
        kymo_raw_TRACE_EVENT(_NTO_TRACE_INSERTCUSEREVENT, code, (uintptr_t)log->words, log->n, 0);
    } else { /* the process's first event: it queries whether any is wanted */
        trace_logb(code, log->words, log->n * sizeof(log->words[0]));
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The block before the events: the capture's attributes, and with -v its system page.
 */
#include "host/print/line.h"

#define KEY_COLUMNS 22

static void row_start(struct out *out, const char *prefix, const char *key)
{
    size_t len = strlen(prefix) + strlen(key);

    out_pad(out, len < KEY_COLUMNS ? KEY_COLUMNS - len : 0);
    out_str(out, prefix);
    out_str(out, key);
    out_str(out, ":: ");
}

static void print_header_row(struct out *out, const char *key, const char *value)
{
    row_start(out, "", key);
    out_text(out, value, strlen(value));
    out_char(out, '\n');
}

static void row_number(struct out *out, const char *key, uint64_t value)
{
    row_start(out, "", key);
    out_u64(out, value);
    out_char(out, '\n');
}

void line_header(struct out *out, const struct kev *kev, bool verbose)
{
    const struct kev_info *info = kev_info(kev);

    out_str(out, "TRACEPRINTER version 1.02\n"
                 "TRACEPARSER LIBRARY version 1.02\n"
                 " -- HEADER FILE INFORMATION --\n");
    for (unsigned i = 0; i < info->nattrs; i++) {
        if (info->attrs[i].value[0] != '\0') {
            row_start(out, "TRACE_", info->attrs[i].key);
            out_text(out, info->attrs[i].value, strlen(info->attrs[i].value));
            out_char(out, '\n');
        }
    }
    if (verbose) {
        out_str(out, " -- SYSTEM PAGE INFORMATION --\n");
        if (info->kymo) {
            print_header_row(out, "BOARD", info->board);
            print_header_row(out, "CPU", info->cpu_name);
            print_header_row(out, "RELEASE", info->release);
            row_start(out, "", "BUILD_ID");
            for (unsigned i = 0; i < info->build_id_len; i++) {
                out_char(out, "0123456789abcdef"[info->build_id[i] >> 4]);
                out_char(out, "0123456789abcdef"[info->build_id[i] & 15]);
            }
            out_char(out, '\n');
        }
        row_number(out, "CPUS", info->ncpu);
        row_number(out, "WORD_BITS", info->word_bits);
        row_number(out, "CYCLES_PER_SEC", info->cycles_per_sec);
        row_number(out, "SKEW_CYCLES", info->skew_cycles);
        row_number(out, "BUFFERS", info->buffers);
    }
    out_str(out, " -- KERNEL EVENTS --\n");
}

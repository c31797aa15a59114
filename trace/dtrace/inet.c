/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inet_ntop(), inet_ntoa(), inet_ntoa6(): network addresses as text. IPv6 in the usual form: lower
 * case, the longest run of zeros as ::, embedded IPv4 addresses with dots. Probe context. Tested by
 * test/trace/dtrace/machine/subr_test.c.
 */
#include "trace/dtrace/subr.h"

enum { GROUPS = 8, TEXT_MAX = 45 };

static void put_v4(struct dtrace_writer *w, const uint8_t *address)
{
    for (unsigned i = 0; i < 4; i++) {
        if (i > 0) {
            dtrace_writer_put(w, '.');
        }
        dtrace_writer_number(w, 10, address[i]);
    }
}

/* Writes groups in base 16, and :: for the longest run of zero groups, the first of equal ones. */
static void put_groups(struct dtrace_writer *w, const uint16_t *group, unsigned ngroups)
{
    unsigned first = 0, length = 0, run = 0;

    for (unsigned i = 0; i < ngroups; i++) {
        run = group[i] == 0 ? run + 1 : 0;
        if (run > length) {
            length = run;
            first = i + 1 - run;
        }
    }
    for (unsigned i = 0; i < ngroups; i++) {
        if (length > 0 && i == first) {
            dtrace_writer_put(w, ':');
            dtrace_writer_put(w, ':');
            i += length - 1;
            continue;
        }
        if (i > 0 && !(length > 0 && i == first + length)) {
            dtrace_writer_put(w, ':');
        }
        dtrace_writer_number(w, 16, group[i]);
    }
}

static void put_v6(struct dtrace_writer *w, const uint8_t *address)
{
    uint16_t group[GROUPS], before = 0;

    for (unsigned i = 0; i < GROUPS; i++) {
        group[i] = (uint16_t)(address[2 * i] << 8 | address[2 * i + 1]);
        before |= i < 5 ? group[i] : 0;
    }
    /* ::ffff:a.b.c.d, and ::a.b.c.d except :: and ::1, hold an IPv4 address */
    bool compatible = group[5] == 0 && (group[6] != 0 || group[7] > 1);
    if (before || (group[5] != 0xffff && !compatible)) {
        put_groups(w, group, GROUPS);
        return;
    }
    put_groups(w, group, GROUPS - 2);
    if (group[5]) {
        dtrace_writer_put(w, ':');
    }
    put_v4(w, address + 12);
}

static uint64_t to_text(struct dtrace_context *c, uint64_t from, bool v6)
{
    uint8_t address[16];
    struct dtrace_writer w;

    if (!dtrace_load_block(c, address, from, v6 ? 16 : 4, false)) {
        return 0;
    }
    dtrace_writer_open(&w, c, TEXT_MAX);
    (v6 ? put_v6 : put_v4)(&w, address);
    return dtrace_writer_close(&w);
}

uint64_t dtrace_subr_inet_ntop(struct dtrace_context *c)
{
    switch (dtrace_arg(c, 0)) {
    case 2: /* AF_INET on all systems */
        return to_text(c, dtrace_arg(c, 1), false);
    case 10: /* AF_INET6 on Linux, Solaris, FreeBSD */
    case 26:
    case 28:
        return to_text(c, dtrace_arg(c, 1), true);
    default:
        return dtrace_illegal(c);
    }
}

uint64_t dtrace_subr_inet_ntoa(struct dtrace_context *c)
{
    return to_text(c, dtrace_arg(c, 0), false);
}

uint64_t dtrace_subr_inet_ntoa6(struct dtrace_context *c)
{
    return to_text(c, dtrace_arg(c, 0), true);
}

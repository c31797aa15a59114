/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The actions of D as the compiler distinguishes them, and the function that makes each. Internal
 * to action*.c.
 */
#ifndef HOST_DT_CLAUSE_ACTION_H
#define HOST_DT_CLAUSE_ACTION_H

#include "host/dt/clause/clause.h"

enum dt_action_name {
    DT_DO_NOTHING,
#define ACTION(name, number) number,
#include "host/dt/clause/actions.def"
};

/* Makes the actions of a call. Its arguments are checked expressions, in the right number. */
typedef void dt_action_maker(struct dt_session *, struct dt_clause *, struct dt_node *call);

/* action_location.c */
dt_action_maker dt_do_location;
/* action_make.c */
dt_action_maker dt_do_trace, dt_do_print, dt_do_tracemem, dt_do_exit;
dt_action_maker dt_do_printf, dt_do_system, dt_do_freopen;
dt_action_maker dt_do_printa, dt_do_clear, dt_do_trunc, dt_do_normalize, dt_do_denormalize,
    dt_do_setopt, dt_do_ftruncate;
dt_action_maker dt_do_speculate, dt_do_commit, dt_do_discard, dt_do_raise, dt_do_chill, dt_do_stop,
    dt_do_panic, dt_do_breakpoint, dt_do_logstop;

/* Returns the number of a new format that has only the kind and the types of the values. */
uint32_t dt_action_format(struct dt_session *, enum dtrace_action_kind, uint64_t arg,
                          struct dt_node *values);

/* ---- action_check.c: each fails, or returns ---------------------------------------- */

/* Checks the action against those before it in the clause, and notes that it occurs. */
void dt_action_check_order(struct dt_session *, struct dt_clause *, const struct dt_node *call,
                           enum dt_action_name, bool records);
void dt_action_not_speculative(struct dt_session *, const struct dt_clause *,
                               const struct dt_node *call);
void dt_action_destructive(struct dt_session *, struct dt_clause *, const struct dt_node *call);
void dt_action_check_args(struct dt_session *, struct dt_node *call);
void dt_action_want(struct dt_session *, const struct dt_node *call, bool ok, const char *tag,
                    const char *what);
void dt_action_want_count(struct dt_session *, const struct dt_node *call, unsigned least,
                          unsigned most, const char *tag);
/* Returns the value of a constant argument, at most INT32_MAX. */
uint64_t dt_action_constant(struct dt_session *, const struct dt_node *call,
                            const struct dt_node *arg, const char *tag, bool zero_ok);
/* Fails unless ok, and names the argument, its type and the expected type. */
void dt_action_want_type(struct dt_session *, const struct dt_node *call, const struct dt_node *arg,
                         bool ok, const char *tag, const char *prototype);
bool dt_action_is_address(const struct dt_node *);

#endif

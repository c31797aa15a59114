/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The actions of D, as the compiler tells them apart, and who makes each. Internal to host/d's back
 * end: action.c and action_*.c.
 */
#ifndef HOST_D_ACTION_H
#define HOST_D_ACTION_H

#include "host/d/back.h"

enum d_action_name {
    D_DO_NOTHING,
#define ACTION(name, number) number,
#include "host/d/actions.def"
};

/* Makes the actions of a call whose arguments are checked expressions, in the right number. */
typedef void d_action_maker(struct d_session *, struct d_clause *, struct d_node *call);

d_action_maker d_do_place;                                       /* action_place.c */
d_action_maker d_do_trace, d_do_print, d_do_tracemem, d_do_exit; /* action_record.c */
d_action_maker d_do_printf, d_do_system, d_do_freopen;           /* action_printf.c */
/* action_consumer.c */
d_action_maker d_do_printa, d_do_clear, d_do_trunc, d_do_normalize, d_do_denormalize, d_do_setopt,
    d_do_ftruncate;
/* action_effect.c */
d_action_maker d_do_speculate, d_do_commit, d_do_discard, d_do_raise, d_do_chill, d_do_stop,
    d_do_panic, d_do_breakpoint, d_do_logstop;

/* A format that says no more than the kind and the types of the values. */
uint32_t d_action_format(struct d_session *, enum d_action_kind, uint64_t arg,
                         struct d_node *values);

/* ---- action_check.c: each fails, or returns ----------------------------------------------------
 */

/* What may follow what in a clause; notes that this action has. */
void d_action_check_order(struct d_session *, struct d_clause *, const struct d_node *call,
                          enum d_action_name, bool records);
void d_action_not_speculative(struct d_session *, const struct d_clause *,
                              const struct d_node *call);
void d_action_destructive(struct d_session *, struct d_clause *, const struct d_node *call);
void d_action_check_args(struct d_session *, struct d_node *call);
void d_action_want(struct d_session *, const struct d_node *call, bool ok, const char *tag,
                   const char *what);
void d_action_want_count(struct d_session *, const struct d_node *call, unsigned least,
                         unsigned most, const char *tag);
/* The value of a constant argument, at most INT32_MAX. */
uint64_t d_action_constant(struct d_session *, const struct d_node *call, const struct d_node *arg,
                           const char *tag, bool zero_ok);
/* The same, and names the argument, its type and the one that is wanted. */
void d_action_want_type(struct d_session *, const struct d_node *call, const struct d_node *arg,
                        bool ok, const char *tag, const char *prototype);
bool d_action_is_address(const struct d_node *);

/* ---- action_printf.c: the first argument as a format -------------------------------------------
 */

void d_action_check_text(struct d_session *, const struct d_node *call, bool empty_ok);
struct d_printf *d_action_parse(struct d_session *, const struct d_node *call);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target `self`: this process. May be open several times.
 */
#ifndef HOST_SELF_TARGET_H
#define HOST_SELF_TARGET_H

#include "host/target/target.h"

struct kymo_d_call;

struct target *self_target_open(void); /* returns NULL if there is no memory */

/* Gives a session what is mapped in this process: target.h's objects(). */
void self_objects(struct target *, struct dt_session *);

/* probes.c: target.h's probes() and probe_names(). */
const struct dt_probe_source *self_probes(struct target *);
bool self_probe_names(struct target *, uint32_t id, struct dt_probe_info *);

/* The target `self` has its machine behind D's control call (trace/dtrace/control.h), for callers
 * that send it messages: first start, then calls of any thread; end removes an owner's
 * consumers. */
void self_control_start(void);
int self_control(const void *owner, struct kymo_d_call *, const void *in, void *out);
void self_control_end(const void *owner);

#endif

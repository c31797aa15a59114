/* SPDX-License-Identifier: BSD-2-Clause */
/* See row.h: a record, when it was and whose it is. */
#include "host/print/row.h"

#include "host/when.h"

void row_fill(struct row *row, const struct kev *kev, const struct kev_event *event,
              const struct line_style *style)
{
    const struct owner *owner = &style->owner;

    record_fill(&row->record, kev, event);
    row->ns = kymo_when_ns(event->time, style->first, kev_info(kev)->cycles_per_sec);
    row->process = owner->known ? owners_process(style->owners, owner->pid) : NULL;
    row->thread = owner->known ? owners_thread(style->owners, owner->pid, owner->tid) : NULL;
}

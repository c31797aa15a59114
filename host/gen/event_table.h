/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event tables trace/events.def and trace/sites.def as data, for the generator of the hooks.
 *
 * The tables are read as text, so that a wrong entry is reported with its file, its line and what
 * to write instead, before any compiler sees what is generated from it.
 */
#ifndef HOST_GEN_EVENT_TABLE_H
#define HOST_GEN_EVENT_TABLE_H

#include <stdbool.h>

enum {
    TABLE_ARGUMENTS = 10, /* most that one event has */
    TABLE_EVENTS = 256,   /* most entries of all tables together */
    TABLE_WORDS = 16,     /* most words of one event */
};

enum table_kind { TABLE_EVENT, TABLE_EVENT_STATE, TABLE_EVENT_CONTROL, TABLE_SITE };

struct table_argument {
    char type; /* D H E X P I N: see trace/events.def */
    const char *name;
};

struct table_list {
    unsigned n;
    struct table_argument argument[TABLE_ARGUMENTS];
};

struct table_event {
    enum table_kind kind;
    bool dumped; /* a state dump writes it, too */
    unsigned line;
    const char *name;       /* of the hook */
    const char *class;      /* internal class as it is written in the table: "PR_TH" */
    unsigned class_number;  /* TRACE_CLASS_<class> */
    unsigned number;        /* of the event in its class */
    const char *external;   /* external class: "THREAD" */
    const char *printed;    /* what `kymo print` prints */
    bool same;              /* the wide form is the fast one */
    struct table_list fast; /* a site has no forms: its arguments are in `wide` */
    struct table_list wide; /* the wider form: if `same`, a copy of `fast` */
    const char *about;      /* what the event means, without the quotes */
};

extern struct table_event table_events[TABLE_EVENTS];
extern unsigned table_count;

/* Appends a file's entries to table_events. On a wrong one, prints FILE:LINE, the fault and the
 * remedy on stderr and ends the program with status 1. */
void table_read(const char *path);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event table and the kernel call table as text for the system page, in the form that
 * abi/syspage.h describes: constant, without a NUL, built by the preprocessor from the two .def
 * files. Any context.
 */
#ifndef TRACE_EVENT_TEXT_H
#define TRACE_EVENT_TEXT_H

extern const char trace_event_text[]; /* "class number NAME fast wide\n"... */
extern const unsigned trace_event_text_len;
extern const char
    trace_kercall_text[]; /* "number NAME enter_fast enter_wide exit_fast exit_wide\n" */
extern const unsigned trace_kercall_text_len;

#endif

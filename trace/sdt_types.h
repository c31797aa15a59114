/* SPDX-License-Identifier: BSD-2-Clause */
/* D's names of the types of an event's arguments (the letters of trace/events.def), for the probes
 * of sdt and their documentation. */
#ifndef TRACE_SDT_TYPES_H
#define TRACE_SDT_TYPES_H

#define SDT_TYPE_D "int32_t"
#define SDT_TYPE_H "uint32_t"
#define SDT_TYPE_E "uint64_t"
#define SDT_TYPE_X "uint64_t"
#define SDT_TYPE_P "uintptr_t"
#define SDT_TYPE_I "uintptr_t"
#define SDT_TYPE_N "string"

#endif

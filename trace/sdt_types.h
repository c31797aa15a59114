/* SPDX-License-Identifier: BSD-2-Clause */
/* D's names for the types of event arguments (the letters of trace/events.def), for the probes of
 * sdt and their documentation. SDT_TYPE_A() is for TRACE_EACH(). */
#ifndef TRACE_SDT_TYPES_H
#define TRACE_SDT_TYPES_H

#define SDT_TYPE_A(type, name) SDT_TYPE_##type,
#define SDT_TYPE_D "int32_t"
#define SDT_TYPE_H "uint32_t"
#define SDT_TYPE_E "uint64_t"
#define SDT_TYPE_X "uint64_t"
#define SDT_TYPE_P "uintptr_t"
#define SDT_TYPE_I "uintptr_t"
#define SDT_TYPE_N "string"

#endif

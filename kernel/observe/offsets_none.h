/* SPDX-License-Identifier: BSD-2-Clause */
/* Replaces the generated trace_offsets.h while kernel/observe/offsets.c is compiled to generate it,
 * because the headers use its names. */
#ifndef KERNEL_OBSERVE_OFFSETS_NONE_H
#define KERNEL_OBSERVE_OFFSETS_NONE_H

#define TRACE_PORT_THREAD 0
#define TRACE_PORT_REMEMBERED 0

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The numbers of the events in their classes, by the names of trace/events.def:
 * NUMBER_comm_reply_message.
 */
#ifndef HOST_EVENT_NUMBERS_H
#define HOST_EVENT_NUMBERS_H

#define EVENT(name, class, number, ...) NUMBER_##name = (number),
enum {
#include "trace/events.def"
};
#undef EVENT

#endif

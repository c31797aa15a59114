/* SPDX-License-Identifier: BSD-2-Clause */
/* Of calls only the exits of those that make user events: test/board/flight.py. */
syscall::trace_event:return {}

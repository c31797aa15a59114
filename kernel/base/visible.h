/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FBT_VISIBLE: keeps a function that other files call from also being inlined into its own file,
 * where fbt's probe would miss it. Used for the functions of the message path (docs/inside/fbt.md);
 * proved by test/host/fbt/places.py.
 */
#ifndef KERNEL_BASE_VISIBLE_H
#define KERNEL_BASE_VISIBLE_H

#define FBT_VISIBLE __attribute__((noinline))

#endif

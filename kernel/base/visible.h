/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FBT_VISIBLE: a function that other files call is not also inlined into its own file, where a
 * probe of fbt would miss it. The functions of the path of messages have it (docs/fbt.md); proved
 * by test/fbt/places.py.
 */
#ifndef KERNEL_BASE_VISIBLE_H
#define KERNEL_BASE_VISIBLE_H

#define FBT_VISIBLE __attribute__((noinline))

#endif

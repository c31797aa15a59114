/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why an image is refused that no compiler of ours makes. A board that is short of flash may be
 * built with D_TERSE: the host checks every image with the same code before it sends it, and says
 * why there.
 */
#ifndef TRACE_D_WHY_H
#define TRACE_D_WHY_H

#ifdef D_TERSE
#define D_WHY(text) "not a valid program"
#else
#define D_WHY(text) text
#endif

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The areas of the windows of retained memory that unit tests make: nowhere where those of layout
 * version 3 were, or one that is sought there would be found. */
#ifndef TEST_TOOL_FAKE_AREAS_H
#define TEST_TOOL_FAKE_AREAS_H

#include "abi/retain.h"

#define FAKE_PANIC 0x1400u
#define FAKE_BOOTS 0x1c00u
#define FAKE_FROZEN 0x2400u
#define FAKE_D 0x5400u
#define FAKE_LIVE 0x8400u
#define FAKE_LIVE_BYTES 0x8000u
#define FAKE_PAGE 0x10400u
#define FAKE_PAGE_BYTES 0x10000u
#define FAKE_NOTES 0x20400u
#define FAKE_NOTES_BYTES 0x10000u
#define FAKE_NAMES 0x30400u
#define FAKE_NAMES_MOST 200u /* entries */
#define FAKE_FREE 0x35400u

#define FAKE_AREAS \
    { \
        .panic = {FAKE_PANIC, sizeof(struct kymo_retain_panic)}, \
        .boots = {FAKE_BOOTS, sizeof(struct kymo_retain_boots)}, \
        .frozen = {FAKE_FROZEN, sizeof(struct kymo_retain_frozen)}, \
        .d = {FAKE_D, KYMO_RETAIN_D_MOST * sizeof(struct kymo_retain_d)}, \
        .live = {FAKE_LIVE, FAKE_LIVE_BYTES}, .page = {FAKE_PAGE, FAKE_PAGE_BYTES}, \
        .notes = {FAKE_NOTES, FAKE_NOTES_BYTES}, \
        .names = {FAKE_NAMES, FAKE_NAMES_MOST * sizeof(struct kymo_retain_name)}, \
        .free = FAKE_FREE \
    }

#endif

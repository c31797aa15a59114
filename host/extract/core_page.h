/* SPDX-License-Identifier: BSD-2-Clause */
/* A system page for a window whose copy of it is damaged: out of another capture of that kernel. */
#ifndef HOST_EXTRACT_CORE_PAGE_H
#define HOST_EXTRACT_CORE_PAGE_H

#include <stdint.h>

#include "host/extract/core.h"

/* Returns true if the window's own page is a page, and is unchanged. */
bool core_page_good(const struct core_window *window);
/* The page that the header means, by its CRC. 0 with *page to be freed; -1: it said why not, unless
 * there is no capture (NULL). */
int core_page(const char *capture, const struct kymo_retain_header *header, uint8_t **page);

#endif

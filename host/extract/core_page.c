/* SPDX-License-Identifier: BSD-2-Clause */
/* See core_page.h. */
#include "host/extract/core_page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kymo.h"
#include "abi/syspage.h"
#include "lib/link/crc32c.h"

#define HEAD_MOST (2 * 65536u) /* attributes and system page, both as large as may be */
static const char core_page_behind_areas[] = "TRACE_HEADER_END::";

static bool is_page(const uint8_t *page, uint32_t bytes)
{
    struct kymo_syspage head;

    if (bytes < sizeof(head)) {
        return false;
    }
    memcpy(&head, page, sizeof(head));
    return head.magic == KYMO_SYSPAGE_MAGIC && head.size == bytes;
}

bool core_page_good(const struct core_window *window)
{
    const struct kymo_retain_header *header = &window->retain.header;

    return window->retain.page_good &&
           is_page(window->memory.window + header->areas.page.at, header->page_bytes);
}

static size_t core_page_read_head(const char *path, uint8_t *head)
{
    FILE *file = fopen(path, "rb");
    size_t bytes = file ? fread(head, 1, HEAD_MOST, file) : 0;

    if (!file || ferror(file)) {
        kymo_error("%s: %s", path, strerror(errno));
        bytes = 0;
    }
    if (file) {
        fclose(file);
    }
    return bytes;
}

static int core_page_take_head(const char *path, const struct kymo_retain_header *header,
                               uint8_t *head)
{
    size_t bytes = core_page_read_head(path, head);
    const uint8_t *end =
        memmem(head, bytes, core_page_behind_areas, strlen(core_page_behind_areas));
    const uint8_t *page = end + strlen(core_page_behind_areas);

    if (bytes == 0) {
        return -1;
    }
    if (!end || (size_t)(head + bytes - page) < header->page_bytes ||
        ~crc32c_add(CRC32C_START, page, header->page_bytes) != header->page_crc ||
        !is_page(page, header->page_bytes)) {
        kymo_error("%s: its system page is not that of the kernel in the image: take a capture of "
                   "the same build on the same board",
                   path);
        return -1;
    }
    memmove(head, page, header->page_bytes);
    return 0;
}

int core_page(const char *capture, const struct kymo_retain_header *header, uint8_t **page)
{
    if (!capture) {
        return -1;
    }
    *page = malloc(HEAD_MOST);
    if (!*page) {
        kymo_error("%s", strerror(ENOMEM));
        return -1;
    }
    return core_page_take_head(capture, header, *page);
}

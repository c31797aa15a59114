/* SPDX-License-Identifier: BSD-2-Clause */
/* Device tree reader: see fdt.h. No recursion, no memory; the loop ends with the
 * structure block. */
#include "boards/drivers/fdt.h"

#define MAGIC 0xd00dfeedu
#define VERSION_MIN 17 /* the first whose header has the structure's size */
enum { BEGIN_NODE = 1, END_NODE = 2, PROP = 3, NOP = 4, END = 9 };
#define DEPTH_MAX 16

struct reader {
    const uint8_t *structure; /* tokens */
    const char *strings;      /* property names */
    uint32_t size, strings_size;
    uint32_t at;                       /* in the structure block */
    unsigned depth;                    /* 1: in the root node */
    uint8_t address_cells, size_cells; /* of the root's children */
    uint8_t cpu_cells;                 /* of /cpus' children */
    bool in_cpus, in_memory, in_cpu;   /* the node open at depth 2, 2, 3 is one of these */
    struct fdt_facts *facts;
};

static uint32_t fdt_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t fdt_cells(const uint8_t *p, unsigned count)
{
    uint64_t value = 0;

    while (count--) {
        value = value << 32 | fdt_be32(p);
        p += 4;
    }
    return value;
}

/* Returns whether the string at p, which has `room` bytes, equals name, or name followed by '@'. */
static bool is_name(const char *p, uint32_t room, const char *name)
{
    uint32_t i = 0;

    for (; name[i]; i++) {
        if (i >= room || p[i] != name[i]) {
            return false;
        }
    }
    return i < room && (p[i] == '\0' || p[i] == '@');
}

/* Returns the length of the string at p with its NUL, or 0 if it does not end within room. */
static uint32_t string_bytes(const uint8_t *p, uint32_t room)
{
    for (uint32_t i = 0; i < room; i++) {
        if (p[i] == 0) {
            return i + 1;
        }
    }
    return 0;
}

static bool node_begin(struct reader *r)
{
    const char *name = (const char *)r->structure + r->at;
    uint32_t room = r->size - r->at;
    uint32_t bytes = string_bytes(r->structure + r->at, room);

    if (bytes == 0 || r->depth >= DEPTH_MAX) {
        return false;
    }
    r->depth++;
    if (r->depth == 2) {
        r->in_cpus = is_name(name, room, "cpus");
        r->in_memory = r->facts->ram_len == 0 && is_name(name, room, "memory");
    }
    r->in_cpu = r->depth == 3 && r->in_cpus && is_name(name, room, "cpu");
    r->at += (bytes + 3) & ~3u;
    return true;
}

static void memory_reg(struct reader *r, const uint8_t *value, uint32_t len)
{
    unsigned a = r->address_cells, s = r->size_cells;

    if (a >= 1 && a <= 2 && s >= 1 && s <= 2 && len >= (a + s) * 4) {
        r->facts->ram_start = fdt_cells(value, a);
        r->facts->ram_len = fdt_cells(value + 4 * a, s);
    }
}

static void cpu_reg(struct reader *r, const uint8_t *value, uint32_t len)
{
    struct fdt_facts *facts = r->facts;

    if (facts->cpus < FDT_MAX_CPUS && r->cpu_cells >= 1 && r->cpu_cells <= 2 &&
        len >= r->cpu_cells * 4u) {
        facts->cpu_reg[facts->cpus++] = fdt_cells(value, r->cpu_cells);
    }
}

static void property_use(struct reader *r, const char *name, uint32_t room, const uint8_t *value,
                         uint32_t len)
{
    bool reg = is_name(name, room, "reg");

    if (r->depth == 1 && len == 4 && is_name(name, room, "#address-cells")) {
        r->address_cells = value[3];
    } else if (r->depth == 1 && len == 4 && is_name(name, room, "#size-cells")) {
        r->size_cells = value[3];
    } else if (r->depth == 2 && r->in_cpus && len == 4 && is_name(name, room, "#address-cells")) {
        r->cpu_cells = value[3];
    } else if (r->depth == 2 && r->in_memory && reg) {
        memory_reg(r, value, len);
    } else if (r->in_cpu && reg) {
        cpu_reg(r, value, len);
    }
}

static bool fdt_property(struct reader *r)
{
    uint32_t len, name;

    if (r->size - r->at < 8) {
        return false;
    }
    len = fdt_be32(r->structure + r->at);
    name = fdt_be32(r->structure + r->at + 4);
    r->at += 8;
    if (len > r->size - r->at || name >= r->strings_size) {
        return false;
    }
    property_use(r, r->strings + name, r->strings_size - name, r->structure + r->at, len);
    r->at += (len + 3) & ~3u;
    return true;
}

static bool node_end(struct reader *r)
{
    if (r->depth == 0) {
        return false;
    }
    r->in_cpu = false;
    r->depth--;
    return true;
}

/* Reads one token. Returns false if the tree is damaged. */
static bool fdt_token(struct reader *r, bool *done)
{
    uint32_t kind = fdt_be32(r->structure + r->at);

    r->at += 4;
    switch (kind) {
    case BEGIN_NODE:
        return node_begin(r);
    case END_NODE:
        return node_end(r);
    case PROP:
        return fdt_property(r);
    case NOP:
        return true;
    case END:
        *done = true;
        return true;
    default:
        return false;
    }
}

static bool block_inside(uint32_t offset, uint32_t size, uint32_t total)
{
    return offset <= total && size <= total - offset;
}

static bool header_read(struct reader *r, const uint8_t *blob, size_t limit)
{
    uint32_t total = fdt_be32(blob + 4), structure = fdt_be32(blob + 8),
             strings = fdt_be32(blob + 12);

    r->strings_size = fdt_be32(blob + 32);
    r->size = fdt_be32(blob + 36);
    if (fdt_be32(blob) != MAGIC || fdt_be32(blob + 20) < VERSION_MIN || total > limit ||
        (structure & 3) || !block_inside(structure, r->size, total) ||
        !block_inside(strings, r->strings_size, total)) {
        return false;
    }
    r->structure = blob + structure;
    r->strings = (const char *)blob + strings;
    return true;
}

bool fdt_read(const void *blob, size_t limit, struct fdt_facts *facts)
{
    struct reader r = {.address_cells = 2, .size_cells = 1, .cpu_cells = 1, .facts = facts};
    bool done = false;

    *facts = (struct fdt_facts){0};
    if (limit < 40 || !header_read(&r, blob, limit)) {
        return false;
    }
    while (!done) {
        if (r.at > r.size || r.size - r.at < 4 || !fdt_token(&r, &done)) {
            *facts = (struct fdt_facts){0};
            return false;
        }
    }
    return true;
}

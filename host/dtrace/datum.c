/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints a recorded datum: integers by size, text if it looks like text, else a dump; stacks and
 * addresses by their symbols.
 */
#include "host/dtrace/print.h"

#include <ctype.h>
#include <string.h>

uint64_t datum_unsigned(const uint8_t *p, uint32_t size)
{
    uint64_t value = 0;

    memcpy(&value, p, size < 8 ? size : 8);
    return value;
}

int64_t datum_signed(const uint8_t *p, uint32_t size)
{
    unsigned shift = size < 8 ? 64 - 8 * size : 0;

    return (int64_t)(datum_unsigned(p, size) << shift) >> shift;
}

static bool is_integer_size(uint32_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

static void print_integer(const struct printer *p, const uint8_t *data, uint32_t size)
{
    static const int widths[9] = {0, 3, 5, 0, 8, 0, 0, 0, 16};
    long long value = size < 4 ? (long long)datum_unsigned(data, size) : datum_signed(data, size);

    if (p->style.quiet) {
        fprintf(p->out, "%lld", value);
    } else {
        fprintf(p->out, " %*lld", widths[size], value);
    }
}

static bool is_text(unsigned char c)
{
    return isprint(c) || isspace(c) || c == '\b' || c == '\a';
}

uint32_t datum_text(const struct printer *p, const uint8_t *data, uint32_t size)
{
    uint32_t n = 0, i;

    while (n < size && is_text(data[n])) {
        n++;
    }
    for (i = n; i < size && data[i] == 0; i++) {
    }
    return i == size && !p->raw_bytes ? n : 0;
}

void print_padded_text(const struct printer *p, const uint8_t *data, uint32_t size, uint32_t width)
{
    fputs("  ", p->out);
    fwrite(data, 1, size, p->out);
    for (uint32_t n = size; n < width; n++) {
        putc(' ', p->out);
    }
}

static void dump_row(const struct printer *p, const uint8_t *data, uint32_t at, uint32_t n)
{
    fprintf(p->out, "     %5x:", at);
    for (uint32_t i = 0; i < 16; i++) {
        if (i < n) {
            fprintf(p->out, " %02x", data[at + i]);
        } else {
            fputs("   ", p->out);
        }
    }
    fputs("  ", p->out);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t c = data[at + i];
        putc(c >= 0x20 && c <= 0x7e ? c : '.', p->out);
    }
    putc('\n', p->out);
}

void print_dump(const struct printer *p, const uint8_t *data, uint32_t size)
{
    fprintf(p->out, "\n%11s", "");
    for (unsigned i = 0; i < 16; i++) {
        fprintf(p->out, "  %x", i);
    }
    fputs("  0123456789abcdef\n", p->out);
    for (uint32_t at = 0; at < size; at += 16) {
        dump_row(p, data, at, size - at < 16 ? size - at : 16);
    }
}

/* A string type makes no difference: what is printable is printed as text, an empty one dumped. */
void print_datum(const struct printer *p, const uint8_t *data, uint32_t size,
                 const struct dt_type *type)
{
    uint32_t text;

    (void)type;
    if (is_integer_size(size) && !p->raw_bytes) {
        print_integer(p, data, size);
    } else if ((text = datum_text(p, data, size)) == 0) {
        print_dump(p, data, size);
    } else if (p->style.quiet &&
               text < size) { /* text without a NUL is never quiet: as dtrace(1M) */
        fwrite(data, 1, text, p->out);
    } else {
        print_padded_text(p, data, text, 33);
    }
}

/* In the one process that there is: its kernel and its program are the same. */
static bool is_mapped(const struct printer *p, uint64_t address, struct dt_symbol *symbol)
{
    if (!p->objects) {
        return false;
    }
    p->objects(p->objects_arg);
    return dt_symbol_at(p->session, address, true, symbol);
}

static bool find_symbol(const struct printer *p, uint64_t address, address_owner owner,
                        struct dt_symbol *symbol)
{
    const char *object;
    uint64_t bias;

    if (owner == OF_KERNEL || !p->process) {
        return dt_symbol_at(p->session, address, owner != OF_KERNEL, symbol) ||
               is_mapped(p, address, symbol);
    }
    return p->process(p->process_arg, (int32_t)owner, &object, &bias) &&
           dt_symbol_in(p->session, object, address - bias, symbol);
}

void symbol_text(const struct printer *p, uint64_t address, address_owner owner, char *to,
                 size_t room)
{
    struct dt_symbol symbol;

    if (!find_symbol(p, address, owner, &symbol)) {
        snprintf(to, room, "0x%llx", (unsigned long long)address);
    } else if (!symbol.name) {
        snprintf(to, room, "%s`0x%llx", symbol.object, (unsigned long long)address);
    } else if (symbol.offset) {
        snprintf(to, room, "%s`%s+0x%llx", symbol.object, symbol.name,
                 (unsigned long long)symbol.offset);
    } else {
        snprintf(to, room, "%s`%s", symbol.object, symbol.name);
    }
}

void module_text(const struct printer *p, uint64_t address, address_owner owner, char *to,
                 size_t room)
{
    struct dt_symbol symbol;

    if (find_symbol(p, address, owner, &symbol)) {
        snprintf(to, room, "%s", symbol.object);
    } else {
        snprintf(to, room, "0x%llx", (unsigned long long)address);
    }
}

uint64_t symbol_start(const struct printer *p, uint64_t address, address_owner owner, bool module)
{
    struct dt_symbol symbol;

    if (!find_symbol(p, address, owner, &symbol)) {
        return address;
    }
    return address - (module ? symbol.place : symbol.offset);
}

bool stack_ends(const uint8_t *data, uint32_t frame, uint32_t frames)
{
    bool jumped = frame == 0 && frames > 1 && datum_unsigned(data + 8, 8) != 0;

    return frame >= frames || (datum_unsigned(data + 8 * frame, 8) == 0 && !jumped);
}

static void print_frames(const struct printer *p, const uint8_t *data, uint32_t frames,
                         address_owner owner)
{
    char text[512];

    putc('\n', p->out);
    for (uint32_t i = 0; !stack_ends(data, i, frames); i++) {
        symbol_text(p, datum_unsigned(data + 8 * i, 8), owner, text, sizeof(text));
        fprintf(p->out, "%*s%s\n", (int)p->stack_indent, "", text);
    }
}

void print_stack(const struct printer *p, const uint8_t *data, uint32_t frames)
{
    print_frames(p, data, frames, OF_KERNEL);
}

void print_ustack(const struct printer *p, const uint8_t *data, uint32_t frames)
{
    print_frames(p, data + 8, frames, (address_owner)datum_unsigned(data, 8));
}

/* The user kinds have the pid before the address. */
void print_address(const struct printer *p, enum dtrace_action_kind kind, const uint8_t *data,
                   int width)
{
    bool user = kind == DTRACE_ACT_USYM || kind == DTRACE_ACT_UMOD || kind == DTRACE_ACT_UADDR;
    uint64_t address = datum_unsigned(data + (user ? 8 : 0), 8);
    address_owner owner = user ? (address_owner)datum_unsigned(data, 8) : OF_KERNEL;
    char text[512], *plus;

    if (kind == DTRACE_ACT_MOD || kind == DTRACE_ACT_UMOD) {
        module_text(p, address, owner, text, sizeof(text));
    } else {
        symbol_text(p, address, owner, text, sizeof(text));
        plus = kind == DTRACE_ACT_UADDR ? NULL : strstr(text, "+0x");
        if (plus) {
            *plus = '\0';
        }
    }
    fprintf(p->out, "%-*s", width, text);
}

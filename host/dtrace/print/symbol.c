/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses by their symbols: sym(), usym() and their kin, and stacks.
 */
#include "host/dtrace/print/print.h"

#include <string.h>

/* On a target with one process its kernel and its program are the same, and so are all owners. */
static bool find_symbol(const struct printer *p, uint64_t address, address_owner owner,
                        struct dt_symbol *symbol)
{
    const char *object;
    uint64_t bias;

    if (owner != OF_KERNEL && p->process) {
        return p->process(p->process_arg, (int32_t)owner, &object, &bias) &&
               dt_symbol_in(p->session, object, address - bias, symbol);
    }
    if (dt_symbol_at(p->session, address, owner != OF_KERNEL, symbol)) {
        return true;
    }
    if (!p->objects) {
        return false;
    }
    p->objects(p->objects_arg);
    return dt_symbol_at(p->session, address, owner != OF_KERNEL || !p->process, symbol);
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
    return address - (module ? symbol.location : symbol.offset);
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

/* The user kinds have the pid before the address. */
static void print_address(const struct printer *p, enum dtrace_action_kind kind,
                          const uint8_t *data, int width)
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

bool print_place(const struct printer *p, const struct print_value *v, const char *before,
                 int width)
{
    switch (v->kind) {
    case DTRACE_ACT_STACK:
        print_frames(p, v->data, v->size / 8, OF_KERNEL);
        return true;
    case DTRACE_ACT_USTACK:
    case DTRACE_ACT_JSTACK: /* the pid comes first */
        print_frames(p, v->data + 8, (uint32_t)v->arg, (address_owner)datum_unsigned(v->data, 8));
        return true;
    case DTRACE_ACT_SYM:
    case DTRACE_ACT_MOD:
    case DTRACE_ACT_USYM:
    case DTRACE_ACT_UMOD:
    case DTRACE_ACT_UADDR:
        fputs(before, p->out);
        print_address(p, v->kind, v->data, width);
        return true;
    default:
        return false;
    }
}

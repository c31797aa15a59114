/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses by their symbols: sym(), usym() and their kin, and stacks.
 */
#include "host/dtrace/print/print.h"

#include "host/escape.h"

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

void stack_names_open(struct stack_names *n, const uint8_t *data, uint32_t size, uint32_t frames)
{
    const size_t before = ((size_t)frames + 1) * 8;

    n->at = (const char *)data + before;
    n->left = size > before ? size - before : 0;
}

const char *stack_name_next(struct stack_names *n)
{
    const char *name = n->at, *end = n->left ? memchr(name, '\0', n->left) : NULL;

    if (!end) {
        n->left = 0;
        return "";
    }
    n->left -= (size_t)(end + 1 - name);
    n->at = end + 1;
    return name;
}

/* A name is what a program says: it stays in its line, and can do nothing to a terminal. */
static void symbol_print_name(FILE *out, const char *name)
{
    struct escape escape = {.nheld = 0};
    char text[ESCAPE_MOST(1)];

    for (; *name; name++) {
        const char c = *name == '\n' || *name == '\t' ? ' ' : *name;
        fwrite(text, 1, escape_text(&escape, &c, 1, text), out);
    }
    if (escape.nheld) {
        fwrite(text, 1, escape_text(&escape, " ", 1, text), out);
    }
}

/* names: what helpers called the frames; NULL: there are none. A name stands in place of the
 * address's, with an @ in front beneath that. */
static void print_frames(const struct printer *p, const uint8_t *data, uint32_t frames,
                         address_owner owner, struct stack_names *names)
{
    char text[512];

    putc('\n', p->out);
    for (uint32_t i = 0; !stack_ends(data, i, frames); i++) {
        const char *name = names ? stack_name_next(names) : "";

        if (!*name || *name == '@') {
            symbol_text(p, datum_unsigned(data + 8 * i, 8), owner, text, sizeof(text));
            fprintf(p->out, "%*s%s\n", (int)p->stack_indent, "", text);
        }
        if (*name) {
            fprintf(p->out, "%*s%s", (int)p->stack_indent, "", *name == '@' ? "  [ " : "");
            symbol_print_name(p->out, *name == '@' ? name + 1 : name);
            fputs(*name == '@' ? " ]\n" : "\n", p->out);
        }
    }
}

/* The user kinds have the pid before the address. */
static void symbol_print_address(const struct printer *p, enum dtrace_action_kind kind,
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
    struct stack_names names;

    switch (v->kind) {
    case DTRACE_ACT_STACK:
        print_frames(p, v->data, v->size / 8, OF_KERNEL, NULL);
        return true;
    case DTRACE_ACT_USTACK:
    case DTRACE_ACT_JSTACK: /* the pid comes first */
        stack_names_open(&names, v->data, v->size, (uint32_t)v->arg);
        print_frames(p, v->data + 8, (uint32_t)v->arg, (address_owner)datum_unsigned(v->data, 8),
                     &names);
        return true;
    case DTRACE_ACT_SYM:
    case DTRACE_ACT_MOD:
    case DTRACE_ACT_USYM:
    case DTRACE_ACT_UMOD:
    case DTRACE_ACT_UADDR:
        fputs(before, p->out);
        symbol_print_address(p, v->kind, v->data, width);
        return true;
    default:
        return false;
    }
}

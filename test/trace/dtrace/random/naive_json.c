/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The naive interpreter: json(), a descent by the selector's names. What is passed over need only
 * have its brackets counted and its strings ended; what is found must be one value with a blank, a
 * comma or a bracket after it. See naive.h.
 */
#include "test/trace/dtrace/random/naive.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct text {
    struct naive *n;
    uint64_t base;
    size_t at;
    char name[1 << 13]; /* of the member passed last */
};

/* What is at hand; 0 after the longest string, at its end and after a fault. */
static char c(struct text *t)
{
    uint8_t byte = 0;

    if (t->at >= t->n->strsize || t->n->fault != DIF_FAULT_NONE ||
        !n_byte(t->n, t->base + t->at, false, &byte)) {
        return 0;
    }
    return (char)byte;
}

static bool blank(char byte)
{
    return byte && strchr(" \t\n\v\f\r", byte);
}

static char solid(struct text *t)
{
    while (blank(c(t))) {
        t->at++;
    }
    return c(t);
}

static bool accept(struct text *t, char byte)
{
    bool is = solid(t) == byte;

    t->at += is;
    return is;
}

static bool digits(struct text *t)
{
    bool any = false;

    for (; isdigit((unsigned char)c(t)); t->at++) {
        any = true;
    }
    return any;
}

static bool one_of(struct text *t, const char *set)
{
    bool is = c(t) && strchr(set, c(t));

    t->at += is;
    return is;
}

/* After its opening quote. Leaves it in name. */
static bool string(struct text *t)
{
    size_t length = 0;

    while ((unsigned char)c(t) >= ' ') {
        char byte = t->name[length++] = c(t);
        t->at++;
        if (byte == '"') {
            t->name[length - 1] = '\0';
            return true;
        }
        if (byte != '\\') {
            continue;
        }
        byte = t->name[length++] = c(t);
        if (!one_of(t, "\"\\/bfnrtu")) {
            return false;
        }
        for (unsigned i = 0; i < 4 && byte == 'u'; i++) {
            t->name[length++] = c(t);
            if (!one_of(t, "0123456789abcdefABCDEF")) {
                return false;
            }
        }
    }
    return false;
}

static bool number(struct text *t)
{
    one_of(t, "-");
    if (!digits(t)) {
        return false;
    }
    if (one_of(t, ".") && !digits(t)) {
        return false;
    }
    if (one_of(t, "eE")) {
        one_of(t, "+-");
        return digits(t);
    }
    return true;
}

static bool word(struct text *t, const char *is)
{
    for (; *is; is++) {
        if (c(t) != *is) {
            return false;
        }
        t->at++;
    }
    return true;
}

static bool brackets(struct text *t)
{
    long depth = 0;

    do {
        char byte = c(t);
        if (byte == 0) {
            return false;
        }
        t->at++;
        depth += byte == '{' || byte == '[' ? 1 : byte == '}' || byte == ']' ? -1 : 0;
        if (byte == '"' && !string(t)) {
            return false;
        }
    } while (depth);
    return true;
}

static bool value(struct text *t)
{
    bool ok;

    switch (c(t)) {
    case '"':
        t->at++;
        ok = string(t);
        break;
    case '{':
    case '[':
        ok = brackets(t);
        break;
    case 't':
        ok = word(t, "true");
        break;
    case 'f':
        ok = word(t, "false");
        break;
    case 'n':
        ok = word(t, "null");
        break;
    default:
        ok = number(t);
    }
    return ok && (blank(c(t)) || (c(t) && strchr(",}]", c(t))));
}

static bool member(struct text *t, const char *name)
{
    static char found[1 << 13];

    while (accept(t, '"') && string(t)) {
        strcpy(found, t->name);
        if (!accept(t, ':')) {
            return false;
        }
        solid(t);
        if (strcmp(found, name) == 0) {
            return true;
        }
        if (!value(t) || !accept(t, ',')) {
            return false;
        }
    }
    return false;
}

static bool element(struct text *t, const char *name)
{
    uint64_t index = 0;

    for (const char *p = name; *p || p == name; p++) {
        if (!isdigit((unsigned char)*p)) {
            return false;
        }
        index = index * 10 + (uint64_t)(*p - '0');
    }
    for (solid(t); index; index--) {
        if (!value(t) || !accept(t, ',')) {
            return false;
        }
        solid(t);
    }
    return c(t) != ']';
}

/* Names end at a dot or a bracket; closing brackets mean nothing. */
static bool descend(struct text *t, char *selector)
{
    char *name = selector + (*selector == '['), *end;

    for (;; name = end + 1) {
        end = name + strcspn(name, ".[]");
        char stop = *end;
        *end = '\0';
        if (!(accept(t, '{') ? member(t, name) : accept(t, '[') && element(t, name))) {
            return false;
        }
        *end = stop;
        end += strspn(end, "]");
        if (*end == '\0') {
            return true;
        }
    }
}

uint64_t n_json(struct naive *n, uint64_t from, uint64_t selector, size_t selector_size)
{
    static struct text t;
    static char names[1 << 13];
    static uint8_t found[1 << 13];

    t = (struct text){.n = n, .base = from};
    if (!n_block(n, (uint8_t *)names, selector, selector_size, false)) {
        return 0;
    }
    names[selector_size] = '\0';
    if (!descend(&t, names)) {
        return 0;
    }
    size_t first = t.at, length = 0;
    if (!value(&t)) {
        return 0;
    }
    size_t end = t.at;
    t.at = first;
    size_t quote = c(&t) == '"';
    for (t.at += quote; t.at < end - quote; t.at++) {
        found[length++] = (uint8_t)c(&t);
    }
    return n_string(n, found, length < n->strsize ? length : n->strsize - 1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The naive interpreter: subroutines, as the D language describes them, on plain C strings. A
 * string that is looked for is only read as far as it must be. See naive.h.
 */
#include "test/trace/dtrace/random/naive.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 1 << 13 };

static uint64_t arg(const struct naive *n, unsigned i)
{
    return n->keys[i].value;
}

static uint64_t illegal(struct naive *n)
{
    n_fault(n, DIF_FAULT_ILLOP, 0);
    return 0;
}

/* A string that was pushed as one was measured then. */
size_t n_arg_text(struct naive *n, unsigned i, uint8_t *text)
{
    const struct n_key *k = &n->keys[i];

    if (!k->string) {
        return n_text(n, k->value, n->strsize, false, text);
    }
    if (text) {
        n_block(n, text, k->value, k->size, false);
    }
    return k->size;
}

static uint64_t cut(struct naive *n, const uint8_t *text, size_t length)
{
    return n_string(n, text, length < n->strsize ? length : n->strsize - 1);
}

/* ---- memory ------------------------------------------------------------------------ */

static uint64_t copyin(struct naive *n, uint64_t from, uint64_t bytes)
{
    uint64_t at = n_scratch(n, bytes);
    uint8_t byte;

    for (uint64_t i = 0; at && i < bytes && n_byte(n, from + i, true, &byte); i++) {
        *n_at(n, at + i) = byte;
    }
    return at;
}

static uint64_t copyinstr(struct naive *n, uint64_t from, uint64_t most)
{
    uint8_t text[TEXT];

    most = most < n->strsize ? most : n->strsize - 1;
    return n_string(n, text, n_text(n, from, (size_t)most, true, text));
}

static uint64_t alloca_(struct naive *n, uint64_t bytes)
{
    uint64_t at = n_scratch(n, bytes);

    for (uint64_t i = 0; at && i < bytes; i++) {
        *n_at(n, at + i) = 0;
    }
    return at;
}

/* The process sees it in pieces of 64 bytes. */
static void copy_out(struct naive *n, uint64_t from, uint64_t to, uint64_t bytes)
{
    uint8_t piece[64];

    for (uint64_t done = 0; done < bytes; done += sizeof(piece)) {
        size_t size = bytes - done < sizeof(piece) ? (size_t)(bytes - done) : sizeof(piece);
        struct n_region *to_map = NULL;
        if (!n_block(n, piece, from + done, size, false)) {
            return;
        }
        for (unsigned i = 0; i < n->nmaps; i++) {
            struct n_region *m = &n->maps[i];
            if (to + done - m->base < m->size && size <= m->size - (to + done - m->base)) {
                to_map = m->user && !m->toxic ? m : NULL;
            }
        }
        if (!to_map) {
            n_fault(n, DIF_FAULT_BADADDR, to + done);
            return;
        }
        memcpy(to_map->bytes + (to + done - to_map->base), piece, size);
    }
}

static uint64_t copyoutstr(struct naive *n, uint64_t from, uint64_t to, uint64_t room)
{
    size_t limit = room < n->strsize ? (size_t)room : n->strsize;
    size_t length = n_text(n, from, limit, false, NULL);

    if (n->fault == DIF_FAULT_NONE) {
        copy_out(n, from, to, length < limit ? length + 1 : limit);
    }
    return 0;
}

static uint64_t memref(struct naive *n)
{
    uint64_t at = n_scratch(n, 16);

    for (unsigned i = 0; at && i < 16; i++) {
        *n_at(n, at + i) = (uint8_t)(arg(n, i / 8) >> 8 * (i % 8));
    }
    return at;
}

/* ---- strings ----------------------------------------------------------------------- */

static uint64_t strjoin(struct naive *n)
{
    uint8_t text[2 * TEXT];
    size_t a = n_arg_text(n, 0, text);
    size_t b = n_arg_text(n, 1, text + a);

    if (a + b >= n->strsize) {
        n_fault(n, DIF_FAULT_NOSCRATCH, 0);
    }
    return n_string(n, text, a + b);
}

static uint64_t change_case(struct naive *n, bool upper)
{
    uint8_t text[TEXT];
    size_t length = n_arg_text(n, 0, text);

    for (size_t i = 0; i < length; i++) {
        if (upper && 'a' <= text[i] && text[i] <= 'z') {
            text[i] -= 'a' - 'A';
        } else if (!upper && 'A' <= text[i] && text[i] <= 'Z') {
            text[i] += 'a' - 'A';
        }
    }
    return cut(n, text, length);
}

/* No string is longer. */
static int64_t clipped(uint64_t n)
{
    int64_t most = 1 << 30, value = (int64_t)n;

    return value > most ? most : value < -most ? -most : value;
}

/* Positions are clipped to the string one after the other, as substr()'s manual says. */
static uint64_t substr(struct naive *n)
{
    uint8_t text[TEXT];
    int64_t length = (int64_t)n_arg_text(n, 0, text), start = clipped(arg(n, 1));
    int64_t count = clipped(n->nkeys > 2 ? arg(n, 2) : n->strsize), end;

    if (start < 0) {
        start += length;
        if (start < 0 && count + start > 0) { /* what lies before the string is missing */
            count += start;
            start = 0;
        }
    }
    if (start < 0 || start > length) {
        start = length;
    }
    end = count < 0 ? length + count : start + count;
    end = end > length ? length : end;
    return n_string(n, text + start, end > start ? (size_t)(end - start) : 0);
}

static uint64_t find_character(struct naive *n, bool last)
{
    uint64_t found = 0;
    uint8_t byte = 1;

    for (size_t i = 0; i < n->strsize && byte && (last || !found); i++) {
        if (n_byte(n, arg(n, 0) + i, false, &byte) && byte == (uint8_t)arg(n, 1)) {
            found = arg(n, 0) + i;
        }
        if (n->fault != DIF_FAULT_NONE) {
            return 0;
        }
    }
    return found;
}

/* Every position where the second string is in the first, up from `low` to `high`: the first or the
 * last one; -1: nowhere. */
static int64_t position(struct naive *n, int64_t low, int64_t high, bool last)
{
    uint8_t text[TEXT], part[TEXT];
    int64_t a = (int64_t)n_arg_text(n, 0, text), b = (int64_t)n_arg_text(n, 1, part), found = -1;

    for (int64_t i = low < 0 ? 0 : low; i <= high && i + b <= a; i++) {
        if (memcmp(text + i, part, (size_t)b) == 0) {
            found = i;
            if (!last) {
                break;
            }
        }
    }
    return found;
}

static uint64_t strstr_(struct naive *n)
{
    int64_t at = position(n, 0, INT32_MAX, false);

    return at < 0 ? 0 : arg(n, 0) + (uint64_t)at;
}

/* An empty text is found at the end by whoever begins after that. */
static uint64_t index_(struct naive *n)
{
    int64_t length = (int64_t)n_arg_text(n, 0, NULL), part = (int64_t)n_arg_text(n, 1, NULL);
    int64_t from = n->nkeys > 2 ? (int64_t)arg(n, 2) : 0;

    if (from >= length) {
        return (uint64_t)(part == 0 ? length : -1);
    }
    return (uint64_t)position(n, from, length, false);
}

static uint64_t rindex_(struct naive *n)
{
    int64_t length = (int64_t)n_arg_text(n, 0, NULL), part = (int64_t)n_arg_text(n, 1, NULL);
    int64_t from = n->nkeys > 2 ? (int64_t)arg(n, 2) : length;

    if (from < 0) {
        return (uint64_t)(part == 0 ? 0 : -1);
    }
    return (uint64_t)position(n, 0, from, true);
}

static bool is_in(uint8_t byte, const uint8_t *set, size_t size)
{
    return memchr(set, byte, size) != NULL;
}

/* One byte, 0 at the end and after a fault. */
static uint8_t token_byte(struct naive *n, uint64_t at, uint64_t left)
{
    uint8_t byte = 0;

    return left && n_byte(n, at, false, &byte) ? byte : 0;
}

static uint64_t strtok_(struct naive *n)
{
    bool lost = n->strtok_epid && n->strtok_epid != n->epid;
    bool on = arg(n, 0) == 0 && n->strtok && !lost;
    uint64_t at = on ? n->strtok : arg(n, 0), left = on ? n->strtok_left : n->strsize;
    uint8_t separators[TEXT], token[TEXT], byte;
    size_t nseparators = n_arg_text(n, 1, separators), length = 0;

    bool in_scratch = at - n->scratch.base < n->scratch_used;
    while ((byte = token_byte(n, at, left)) != 0 && is_in(byte, separators, nseparators)) {
        at++, left--;
    }
    n->strtok = 0;
    if (byte == 0) {
        return 0;
    }
    while ((byte = token_byte(n, at, left)) != 0 && !is_in(byte, separators, nseparators)) {
        token[length++] = byte;
        at++, left--;
    }
    n->strtok = at;
    n->strtok_left = left;
    n->strtok_epid = in_scratch ? n->epid : 0;
    return cut(n, token, length);
}

/* ---- paths ------------------------------------------------------------------------- */

static size_t without_slashes(const uint8_t *path, size_t length)
{
    while (length && path[length - 1] == '/') {
        length--;
    }
    return length;
}

static size_t without_name(const uint8_t *path, size_t length)
{
    while (length && path[length - 1] != '/') {
        length--;
    }
    return length;
}

static uint64_t base_or_directory(struct naive *n, bool base)
{
    uint8_t path[TEXT];
    size_t length = n_arg_text(n, 0, path), end = without_slashes(path, length);
    size_t name = without_name(path, end), directory = without_slashes(path, name);

    if (end == 0) { /* nothing, or nothing but slashes */
        return cut(n, (const uint8_t *)(length ? "/" : "."), 1);
    }
    if (base) {
        return cut(n, path + name, end - name);
    }
    return directory ? cut(n, path, directory) : cut(n, (const uint8_t *)(name ? "/" : "."), 1);
}

/* What was read after the last component that is sure: "", "/", "/." or "/..". */
struct cleaning {
    char out[TEXT], tail[8];
};

static void clean_up(struct cleaning *k, bool end)
{
    char *slash = strrchr(k->out, '/');

    if (!end) {
        *(slash ? slash : k->out) = '\0';
    } else if (k->out[0] == '\0') {
        strcpy(k->out, "/");
    } else { /* its slash stays; without one, as in DTrace, the first character */
        (slash ? slash : k->out)[1] = '\0';
    }
    strcpy(k->tail, end ? "" : "/");
}

static void clean_byte(struct cleaning *k, char byte)
{
    bool after_slash = strcmp(k->tail, "/") == 0 || strcmp(k->tail, "/.") == 0;

    if (strcmp(k->tail, "/..") == 0 && (byte == '/' || byte == '\0')) {
        clean_up(k, byte == '\0');
    } else if (byte == '/' && (after_slash || k->tail[0] == '\0')) {
        strcpy(k->tail, "/");
    } else if (byte == '.' && after_slash) {
        strcat(k->tail, ".");
    } else {
        strcat(k->out, k->tail);
        k->tail[0] = '\0';
        strncat(k->out, &byte, 1);
    }
}

/* The result ends where five more characters might not fit. */
static uint64_t cleanpath(struct naive *n)
{
    static struct cleaning k;
    uint8_t path[TEXT];
    size_t length = n_arg_text(n, 0, path);
    uint64_t at;

    k.out[0] = k.tail[0] = '\0';
    for (size_t i = 0; i <= length && strlen(k.out) + 5 < n->strsize; i++) {
        clean_byte(&k, i < length ? (char)path[i] : '\0');
    }
    size_t before = n->scratch_used; /* it needs room for the longest string */
    at = n->fault == DIF_FAULT_NONE ? n_scratch(n, n->strsize) : 0;
    n->scratch_used = at ? before : n->scratch_used;
    return at ? n_string(n, (const uint8_t *)k.out, strlen(k.out)) : 0;
}

/* ---- numbers ----------------------------------------------------------------------- */

static uint64_t lltostr(struct naive *n)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint64_t value = arg(n, 0), base = n->nkeys > 1 ? arg(n, 1) : 10;
    char text[80] = "", *p = text + sizeof(text) - 1;

    if (base < 2 || base > 36) {
        return illegal(n);
    }
    bool negative = base == 10 && (int64_t)value < 0;
    for (uint64_t rest = negative ? -value : value; rest; rest /= base) {
        *--p = digits[rest % base];
    }
    if (base == 8 || value == 0) {
        *--p = '0';
    }
    p -= base == 16 ? 2 : 0;
    if (base == 16) {
        memcpy(p, "0x", 2);
    }
    if (negative) {
        *--p = '-';
    }
    return n_string(n, (const uint8_t *)p, strlen(p));
}

static unsigned digit(uint8_t c)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    const char *at = c >= 'A' && c <= 'Z' ? strchr(digits, c + 32) : c ? strchr(digits, c) : NULL;

    return at ? (unsigned)(at - digits) : 99;
}

static uint64_t strtoll_(struct naive *n)
{
    uint64_t base = n->nkeys > 1 ? arg(n, 1) : 10, value = 0;
    uint8_t text[TEXT + 4] = {0}, *p = text;
    size_t length = n_arg_text(n, 0, text);

    if (base < 2 || base > 36) {
        return illegal(n);
    }
    text[length] = text[length + 1] = text[length + 2] = '\0';
    while (*p == ' ' || *p == '\t') {
        p++;
    }
    bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    if (base == 16 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && digit(p[2]) < 16) {
        p += 2;
    }
    for (; digit(*p) < base; p++) {
        value = value * base + digit(*p);
    }
    return negative ? -value : value;
}

static uint64_t swap(uint64_t value, unsigned bytes)
{
    uint64_t swapped = 0;

    for (unsigned i = 0; i < bytes; i++) {
        swapped = swapped << 8 | (value >> 8 * i & 0xff);
    }
    return swapped;
}

/* ---- addresses of the network ------------------------------------------------------ */

static void text_v4(char *to, const uint8_t *a)
{
    sprintf(to, "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
}

/* The longest run of zeros, the first of equal ones, of these groups. */
static void longest_run(const unsigned *group, unsigned ngroups, unsigned *first, unsigned *length)
{
    *first = *length = 0;
    for (unsigned from = 0; from < ngroups; from++) {
        unsigned to = from;
        while (to < ngroups && group[to] == 0) {
            to++;
        }
        if (to - from > *length) {
            *first = from;
            *length = to - from;
        }
    }
}

static void text_v6(char *to, const uint8_t *a)
{
    static const uint8_t zeros[10];
    bool mapped = memcmp(a, zeros, 10) == 0 && a[10] == 0xff && a[11] == 0xff;
    bool compatible =
        memcmp(a, zeros, 10) == 0 && !a[10] && !a[11] && (a[12] || a[13] || a[14] || a[15] > 1);
    unsigned group[8], ngroups = mapped || compatible ? 6 : 8, first, length;

    for (unsigned i = 0; i < 8; i++) {
        group[i] = a[2 * i] * 256u + a[2 * i + 1];
    }
    longest_run(group, ngroups, &first, &length);
    for (unsigned i = 0; i < ngroups; i++) {
        if (length && i == first) {
            to += sprintf(to, "::");
        }
        if (i < first || i >= first + length) {
            bool colon = i > 0 && i != first + length;
            to += sprintf(to, colon || (length == 0 && i > 0) ? ":%x" : "%x", group[i]);
        }
    }
    if (ngroups == 6) {
        to += sprintf(to, "%s", mapped ? ":" : "");
        text_v4(to, a + 12);
    }
}

static uint64_t inet(struct naive *n, uint64_t family, uint64_t from)
{
    uint8_t address[16];
    char text[64] = "";

    if (family != 2 && family != 10 && family != 26 && family != 28) {
        return illegal(n);
    }
    if (n_block(n, address, from, family == 2 ? 4 : 16, false)) {
        (family == 2 ? text_v4 : text_v6)(text, address);
    }
    return n_string(n, (const uint8_t *)text, strlen(text));
}

/* ---- all --------------------------------------------------------------------------- */

static const struct {
    const char *result, *args;
} subrs[DIF_SUBR_MAX + 1] = {
#define DIF_SUBR(number, name, result, args, cost, doc) [number] = {result, args},
#include "trace/dtrace/opcodes.def"
};

/* How many arguments it must have: optional ones stand in brackets. */
static unsigned least(const char *args)
{
    const char *optional = strchr(args, '[');
    unsigned commas = 0;

    for (const char *p = args; *p && p != optional; p++) {
        commas += *p == ',';
    }
    return optional || !*args ? commas : commas + 1;
}

static uint64_t string_subr(struct naive *n, uint32_t number)
{
    switch (number) {
    case DIF_SUBR_strlen:
        return n_arg_text(n, 0, NULL);
    case DIF_SUBR_strjoin:
        return strjoin(n);
    case DIF_SUBR_substr:
        return substr(n);
    case DIF_SUBR_toupper:
    case DIF_SUBR_tolower:
        return change_case(n, number == DIF_SUBR_toupper);
    case DIF_SUBR_strchr:
    case DIF_SUBR_strrchr:
        return find_character(n, number == DIF_SUBR_strrchr);
    case DIF_SUBR_strstr:
        return strstr_(n);
    case DIF_SUBR_index:
        return index_(n);
    case DIF_SUBR_rindex:
        return rindex_(n);
    case DIF_SUBR_strtok:
        return strtok_(n);
    case DIF_SUBR_basename:
    case DIF_SUBR_dirname:
        return base_or_directory(n, number == DIF_SUBR_basename);
    case DIF_SUBR_cleanpath:
        return cleanpath(n);
    case DIF_SUBR_json:
        return n_json(n, arg(n, 0), arg(n, 1), n_arg_text(n, 1, NULL));
    default:
        return strtoll_(n);
    }
}

static uint64_t memory_subr(struct naive *n, uint32_t number)
{
    switch (number) {
    case DIF_SUBR_copyin:
        return copyin(n, arg(n, 0), arg(n, 1));
    case DIF_SUBR_copyinstr:
        return copyinstr(n, arg(n, 0), n->nkeys > 1 ? arg(n, 1) : UINT64_MAX);
    case DIF_SUBR_alloca:
        return alloca_(n, arg(n, 0));
    case DIF_SUBR_bcopy:
        n_copy(n, arg(n, 1), arg(n, 0), arg(n, 2), false, false);
        return 0;
    case DIF_SUBR_copyinto:
        n_copy(n, arg(n, 2), arg(n, 0), arg(n, 1), true, false);
        return 0;
    case DIF_SUBR_copyout:
        if (arg(n, 2) > 65536) {
            return illegal(n);
        }
        copy_out(n, arg(n, 0), arg(n, 1), arg(n, 2));
        return 0;
    case DIF_SUBR_copyoutstr:
        return copyoutstr(n, arg(n, 0), arg(n, 1), arg(n, 2));
    case DIF_SUBR_memref:
        return memref(n);
    default:
        return string_subr(n, number);
    }
}

uint64_t n_subr(struct naive *n, uint32_t number)
{
    if (subrs[number].result[0] == '\0' || n->nkeys < least(subrs[number].args)) {
        return illegal(n);
    }
    switch (number) {
    case DIF_SUBR_rand:
        return (uint64_t)(int64_t)(int32_t)(uint32_t)n->random;
    case DIF_SUBR_speculation:
        return n->speculations < n->speculations_max ? ++n->speculations : 0;
    case DIF_SUBR_progenyof:
        return (int32_t)arg(n, 0) == 42 || (int32_t)arg(n, 0) == 1;
    case DIF_SUBR_pidname: {
        int32_t pid = (int32_t)arg(n, 0);
        const char *name = pid == 42 ? "answer" : pid == 1 ? "kymo" : "";
        size_t length = strlen(name);
        return n_string(n, (const uint8_t *)name, length < n->strsize ? length : n->strsize - 1);
    }
    case DIF_SUBR_lwpinfo:
        return (int32_t)arg(n, 0) == 42 ? (uint64_t)(uint32_t)arg(n, 1) << 8 | (uint32_t)arg(n, 2)
                                        : 0;
    case DIF_SUBR_htons:
    case DIF_SUBR_ntohs:
        return swap(arg(n, 0), 2);
    case DIF_SUBR_htonl:
    case DIF_SUBR_ntohl:
        return swap(arg(n, 0), 4);
    case DIF_SUBR_htonll:
    case DIF_SUBR_ntohll:
        return swap(arg(n, 0), 8);
    case DIF_SUBR_lltostr:
        return lltostr(n);
    case DIF_SUBR_inet_ntop:
        return inet(n, arg(n, 0), arg(n, 1));
    case DIF_SUBR_inet_ntoa:
        return inet(n, 2, arg(n, 0));
    case DIF_SUBR_inet_ntoa6:
        return inet(n, 10, arg(n, 0));
    default:
        return memory_subr(n, number);
    }
}

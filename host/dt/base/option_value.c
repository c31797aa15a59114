/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The syntax of options' values: numbers, flags, sizes, rates, versions, stability.
 */
#include "host/dt/base/option_value.h"

#include "trace/dtrace/provider/rate.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Digits in any of C's bases; *end is set after them. No sign, no overflow. */
static bool option_parse_digits(const char *text, uint64_t *value, char **end)
{
    if (!isdigit((unsigned char)*text)) {
        return false;
    }
    errno = 0;
    *value = strtoull(text, end, 0);
    return errno == 0;
}

bool dt_value_word(const char *text, const char *const *words, uint64_t *value)
{
    for (uint64_t i = 0; words[i]; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *value = i;
            return true;
        }
    }
    return false;
}

bool dt_value_number(const char *text, uint64_t *value)
{
    static const char *const words[] = {"no",      "yes",   "disable", "enable", "disabled",
                                        "enabled", "false", "true",    "off",    "on",
                                        "unset",   "set",   NULL};
    char *end;

    if (dt_value_word(text, words, value)) {
        *value &= 1;
        return true;
    }
    return option_parse_digits(text, value, &end) && *end == '\0';
}

bool dt_value_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "kmgt";
    char *end;

    if (!option_parse_digits(text, bytes, &end)) {
        return false;
    }
    if (*end == '\0') {
        return true;
    }
    const char *unit = strchr(units, tolower((unsigned char)*end));
    return unit && end[1] == '\0' &&
           !__builtin_mul_overflow(*bytes, (uint64_t)1 << (10 * (unit - units + 1)), bytes);
}

bool dt_value_rate(const char *text, uint64_t *ns)
{
    uint64_t value;
    char *end;

    return option_parse_digits(text, &value, &end) && dtrace_rate_interval(value, end, ns);
}

/* ---- versions ---------------------------------------------------------------------- */

bool dt_value_version(const char *text, unsigned *version)
{
    static const unsigned most[] = {255, 255, 255};
    unsigned parts[3] = {0, 0, 0}, n = 0;

    for (;;) {
        uint64_t value;
        char *end;
        if (n == 3 || !isdigit((unsigned char)*text)) {
            return false;
        }
        errno = 0;
        value = strtoull(text, &end, 10);
        if (errno || value > most[n]) {
            return false;
        }
        parts[n++] = (unsigned)value;
        if (*end == '\0') {
            break;
        }
        if (*end != '.') {
            return false;
        }
        text = end + 1;
    }
    *version = parts[0] << 16 | parts[1] << 8 | parts[2];
    return n >= 2;
}

bool dt_version_is_known(unsigned version)
{
    static const unsigned known[] = {
        0x010000, 0x010100, 0x010200, 0x010201, 0x010202, 0x010300, 0x010400, 0x010401,
        0x010500, 0x010600, 0x010601, 0x010602, 0x010603, 0x010700, 0x010701, 0x010800,
        0x010801, 0x010900, 0x010901, 0x010a00, 0x010b00, 0x010c00, 0x010c01, 0x010d00,
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (known[i] == version) {
            return true;
        }
    }
    return false;
}

/* ---- stability --------------------------------------------------------------------- */

static bool option_parse_part(const char **text, char last, const char *const *words,
                              uint8_t *value)
{
    char word[16];
    size_t n = strcspn(*text, "/");
    uint64_t number = 0;

    if (n >= sizeof(word) || (*text)[n] != last) {
        return false;
    }
    memcpy(word, *text, n);
    word[n] = '\0';
    *text += n + (last != '\0');
    bool known = dt_value_word(word, words, &number);
    *value = (uint8_t)number;
    return known;
}

bool dt_value_attributes(const char *text, struct dt_attributes_short *a)
{
    static const char *const levels[] = {"Internal", "Private", "Obsolete", "External", "Unstable",
                                         "Evolving", "Stable",  "Standard", NULL};
    static const char *const classes[] = {"Unknown", "CPU",    "Platform", "Group",
                                          "ISA",     "Common", NULL};

    return option_parse_part(&text, '/', levels, &a->name) &&
           option_parse_part(&text, '/', levels, &a->data) &&
           option_parse_part(&text, '\0', classes, &a->class);
}

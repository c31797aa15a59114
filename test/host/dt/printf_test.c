/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printf formats taken apart.
 */
#include "host/dt/printf.h"
#include "test/host/dt/front.h"

#include <string.h>

static struct dt_printf *parse(const char *format)
{
    const char *why = NULL;
    struct dt_printf *f = dt_printf_parse(front.d, format, &why);

    assert_int_equal(f == NULL, why != NULL);
    return f;
}

static struct dt_conversion only(const char *format)
{
    struct dt_printf *f = parse(format);

    if (!f || f->n != 1) {
        fail_msg("%s: not one conversion", format);
    }
    return f->conversions[0];
}

static void texts(void **state)
{
    (void)state;
    EQUAL(0, parse("")->n);
    struct dt_printf *f = parse("a%%b%dc%%%% %sx");
    EQUAL(3, f->n);
    EQUAL(3, f->conversions[0].before_size);
    assert_memory_equal(f->conversions[0].before, "a%b", 3);
    SAME("d", f->conversions[0].name);
    EQUAL(4, f->conversions[1].before_size);
    assert_memory_equal(f->conversions[1].before, "c%% ", 4);
    SAME("s", f->conversions[1].name);
    EQUAL(1, f->conversions[2].before_size);
    SAME("", f->conversions[2].name);
    f = parse("%%");
    EQUAL(1, f->n);
    EQUAL(1, f->conversions[0].before_size);
}

static void flags(void **state)
{
    static const struct {
        const char *format;
        unsigned flags;
        int width, precision;
        const char *size, *name;
    } rows[] = {
        {"%d", 0, -1, -1, "", "d"},
        {"%5d", 0, 5, -1, "", "d"},
        {"%-5d", DT_CONV_LEFT, 5, -1, "", "d"},
        {"%05d", DT_CONV_ZERO, 5, -1, "", "d"},
        {"%50d", 0, 50, -1, "", "d"},
        {"%.3s", 0, -1, 3, "", "s"},
        {"%.s", 0, -1, 0, "", "s"},
        {"%10.03s", 0, 10, 3, "", "s"},
        {"%#x", DT_CONV_ALT, -1, -1, "", "x"},
        {"%+ '#-0d",
         DT_CONV_PLUS | DT_CONV_SPACE | DT_CONV_GROUP | DT_CONV_ALT | DT_CONV_LEFT | DT_CONV_ZERO,
         -1, -1, "", "d"},
        {"%*d", DT_CONV_DYNWIDTH, -1, -1, "", "d"},
        {"%.*d", DT_CONV_DYNPREC, -1, -1, "", "d"},
        {"%*.*d", DT_CONV_DYNWIDTH | DT_CONV_DYNPREC, -1, -1, "", "d"},
        {"%?p", DT_CONV_POINTER_WIDTH, -1, -1, "", "p"},
        {"%0?x", DT_CONV_POINTER_WIDTH | DT_CONV_ZERO, -1, -1, "", "x"},
        {"%@d", DT_CONV_AGG, -1, -1, "", "d"},
        {"%@5d", DT_CONV_AGG, 5, -1, "", "d"},
        {"%5@d", DT_CONV_AGG, 5, -1, "", "d"},
        {"%-@8u", DT_CONV_AGG | DT_CONV_LEFT, 8, -1, "", "u"},
        {"%hd", 0, -1, -1, "h", "d"},
        {"%ld", 0, -1, -1, "l", "d"},
        {"%llx", 0, -1, -1, "ll", "x"},
        {"%Lf", 0, -1, -1, "L", "f"},
        {"%wc", 0, -1, -1, "", "wc"},
        {"%ws", 0, -1, -1, "", "ws"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct dt_conversion c = only(rows[i].format);
        EQUAL(rows[i].flags, c.flags);
        EQUAL(rows[i].width, c.width);
        EQUAL(rows[i].precision, c.precision);
        SAME(rows[i].size, c.size);
        SAME(rows[i].name, c.name);
    }
}

static void names(void **state)
{
    static const char known[] = "aAcCdeEfgGiIkopPsSTuxXY";

    (void)state;
    for (int c = ' ' + 1; c < 127; c++) {
        char format[] = {'%', (char)c, '\0'};
        const char *why;
        bool lone = strchr("#0-+ '*.?@hlLw123456789", c) != NULL;
        struct dt_printf *f = dt_printf_parse(front.d, format, &why);
        assert_int_equal(f != NULL, c == '%' || (!lone && strchr(known, c)));
    }
}

static void errors(void **state)
{
    static const char *const bad[] = {"%",    "%5",    "a%",   "%-%",    "%5%",           "%1$d",
                                      "%**d", "%.*.d", "%..d", "%.*.*d", "%llld",         "%y",
                                      "%n",   "%hhhd", "%w",   "%wd",    "%99999999999d", "%d %"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        if (parse(bad[i])) {
            fail_msg("%s is taken", bad[i]);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, front_open, front_close)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(texts), TEST(flags), TEST(names), TEST(errors)};

    return cmocka_run_group_tests_name("d_front printf", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Each reason's text, which is stored short, is that of the table; in any order, because a text is
 * made from those before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "trace/dtrace/dtrace.h"

static const char *const texts[] = {
    NULL,
#define DTRACE_REASON(name, error, text) [DTRACE_REASON_##name] = (text),
#include "trace/dtrace/reasons.def"
};
enum { TEXTS = sizeof(texts) / sizeof(*texts) };

static void texts_are_the_tables(void **state)
{
    (void)state;
    for (unsigned i = 1; i < TEXTS; i++) {
        unsigned other = i * 7 % (TEXTS - 1) + 1;
        assert_string_equal(dtrace_reason_text((enum dtrace_reason)other), texts[other]);
        assert_string_equal(dtrace_reason_text((enum dtrace_reason)i), texts[i]);
    }
}

static void others_have_none(void **state)
{
    (void)state;
    assert_null(dtrace_reason_text(DTRACE_REASON_NONE));
    assert_string_equal(dtrace_reason_text((enum dtrace_reason)TEXTS), "unknown reason");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_the_tables),
                                       cmocka_unit_test(others_have_none)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

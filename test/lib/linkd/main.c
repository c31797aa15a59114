/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/linkd/, each service over a clean line and over one that tears frames, with clients and hosts
 * that leave at any time: world.h. Its promises are in lib/linkd/linkd.h and
 * docs/reference/link.md.
 */
#include "test/lib/linkd/tests.h"

const struct line_faults clean = {0};
const struct line_faults torn = {.drop = 60, .flip = 60, .twice = 40, .garbage = 40, .most = 30};

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hello),
        cmocka_unit_test(test_sleeps),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_source_refuses),
        cmocka_unit_test(test_capture),
        cmocka_unit_test(test_capture_client_killed),
        cmocka_unit_test(test_capture_client_forgotten),
        cmocka_unit_test(test_capture_host_gone),
        cmocka_unit_test(test_capture_waits_for_host),
        cmocka_unit_test(test_capture_host_errs),
        cmocka_unit_test(test_capture_refuses),
        cmocka_unit_test(test_dtrace),
        cmocka_unit_test(test_dtrace_owns),
        cmocka_unit_test(test_dtrace_memory),
        cmocka_unit_test(test_dtrace_refuses),
        cmocka_unit_test(test_console),
        cmocka_unit_test(test_console_tick),
        cmocka_unit_test(test_console_refuses),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_second_request),
        cmocka_unit_test(test_program_find),
        cmocka_unit_test(test_program_closes),
        cmocka_unit_test(test_hosts_follow),
        cmocka_unit_test(test_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

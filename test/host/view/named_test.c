/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo view's check of the header Host: the names that browsers send for this machine, with the
 * port, or without it if it is HTTP's own, in any case of letters; and nothing else.
 */
#include <stdio.h>

#include "host/view/view.h"
#include "test/host/support.h"

static const char *const ours[] = {"127.0.0.1", "localhost", "[::1]", "LocalHost", "LOCALHOST"};
static const char *const others[] = {
    "",
    "::1",
    "[::2]",
    "0.0.0.0",
    "127.1",
    "127.0.0.2",
    "127.0.0.1.nip.io",
    "localhost.",
    "localhost.evil.example",
    "evil.example",
    "xlocalhost",
    " localhost",
    "localhost ",
    "@",
};

static void named(void **state)
{
    static const unsigned ports[] = {1, 79, 80, 443, 8000, 65535};
    static const char *const after[] = {":%u0", ":0%u", ":%ux", ":+%u", ": %u", ":", "x:%u", "%u"};
    char host[64];

    (void)state;
    for (unsigned p = 0; p < sizeof(ports) / sizeof(ports[0]); p++) {
        unsigned port = ports[p];

        for (unsigned i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
            assert_int_equal(server_is_named(ours[i], port), port == 80);
            snprintf(host, sizeof(host), "%s:%u", ours[i], port);
            assert_true(server_is_named(host, port));
            assert_false(server_is_named(host, port + 1));
            for (unsigned a = 0; a < sizeof(after) / sizeof(after[0]); a++) {
                size_t length = (size_t)snprintf(host, sizeof(host), "%s", ours[i]);

                snprintf(host + length, sizeof(host) - length, after[a], port);
                assert_false(server_is_named(host, port));
            }
        }
        for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
            assert_false(server_is_named(others[i], port));
            snprintf(host, sizeof(host), "%s:%u", others[i], port);
            assert_false(server_is_named(host, port));
        }
        assert_false(server_is_named(NULL, port));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(named)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

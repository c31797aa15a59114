/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link's tests: KYMO_SEED=n repeats the random ones. Every one that involves two ends also
 * checks that neither ever believes the other to break the protocol.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/lib/link/tests.h"

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc_check_value),
        cmocka_unit_test(test_cobs_every_length),
        cmocka_unit_test(test_cobs_garbage),
        cmocka_unit_test(test_clean_line),
        cmocka_unit_test(test_drops),
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_stalls),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_everything_small_frames),
        cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_echo_of_ourselves),
        cmocka_unit_test(test_echo_while_up),
        cmocka_unit_test(test_old_session_is_refused),
        cmocka_unit_test(test_slow_channel_holds_nobody_up),
        cmocka_unit_test(test_channels_take_turns),
        cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_other_version),
        cmocka_unit_test(test_hello_of_every_length),
        cmocka_unit_test(test_bye),
        cmocka_unit_test(test_hostile_frames),
        cmocka_unit_test(test_wrap_of_numbers),
        cmocka_unit_test(test_wrap_out_of_order),
        cmocka_unit_test(test_wrap_all_the_way),
        cmocka_unit_test(test_patience_on_lossy_lines),
        cmocka_unit_test(test_patience_on_a_line_that_slows_down),
        cmocka_unit_test(test_ack_goes_before_what_is_sent_again),
        cmocka_unit_test(test_one_loss_goes_once),
        cmocka_unit_test(test_ahead_at_every_number),
        cmocka_unit_test(test_overhead),
        cmocka_unit_test(test_bad_config),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The tests by name, and the pair of ends that most of them have. */
#ifndef TEST_LIB_LINK_TESTS_H
#define TEST_LIB_LINK_TESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "test/lib/link/end.h"
#include "test/lib/link/line.h"

struct pair {
    struct end host, target;
    struct line to_target, to_host;
    uint32_t now;
};

/* Fresh, on a line without faults. The seed of the test is printed. */
struct pair *pair_make(const char *test);
void pair_free(struct pair *pair);
void pair_faults(struct pair *pair, struct line_faults faults);
/* One millisecond; the ends act at random, or only finish what they began. */
void pair_step(struct pair *pair, bool quiet);
/* Until both are up. */
void pair_meet(struct pair *pair);
/* No more faults: everything announced arrives, or the test fails. */
void pair_settle(struct pair *pair);

void test_crc_check_value(void **state);
void test_cobs_every_length(void **state);
void test_cobs_garbage(void **state);
void test_clean_line(void **state);
void test_drops(void **state);
void test_flips(void **state);
void test_twice(void **state);
void test_garbage(void **state);
void test_stalls(void **state);
void test_everything(void **state);
void test_everything_small_frames(void **state);
void test_restarts(void **state);
void test_silence(void **state);
void test_echo_of_ourselves(void **state);
void test_echo_while_up(void **state);
void test_old_session_is_refused(void **state);
void test_slow_channel_holds_nobody_up(void **state);
void test_channels_take_turns(void **state);
void test_refusal(void **state);
void test_other_version(void **state);
void test_hello_of_every_length(void **state);
void test_bye(void **state);
void test_hostile_frames(void **state);
void test_wrap_of_numbers(void **state);
void test_wrap_out_of_order(void **state);
void test_wrap_all_the_way(void **state);
void test_patience_on_lossy_lines(void **state);
void test_patience_on_a_line_that_slows_down(void **state);
void test_ack_goes_before_what_is_sent_again(void **state);
void test_one_loss_goes_once(void **state);
void test_ahead_at_every_number(void **state);
void test_overhead(void **state);
void test_bad_config(void **state);

#endif

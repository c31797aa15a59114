/* SPDX-License-Identifier: BSD-2-Clause */
/* For the driver of disks that a test includes, with a model: only those who look at the clock make
 * time pass, a millisecond each; else the model says when an answer was too late. */
#ifndef TEST_APPS_DISKD_TIME_H
#define TEST_APPS_DISKD_TIME_H

int TimerTimeout(clockid_t clock, unsigned states, const struct sigevent *event, const uint64_t *ns,
                 uint64_t *left)
{
    (void)clock;
    (void)states;
    (void)event;
    (void)ns;
    (void)left;
    return 0;
}

int ClockTime(int id, const uint64_t *new_ns, uint64_t *old_ns)
{
    static uint64_t now;

    (void)id;
    (void)new_ns;
    *old_ns = now += 1000000u;
    return 0;
}

unsigned delay(unsigned ms)
{
    (void)ms;
    return 0;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated system that writes a capture and knows all causes: an oracle for what host/ says. Its
 * kernel makes the events that Kymo's makes, in the same order (kernel/ipc, kernel/sync,
 * kernel/thread, kernel/intr, kernel/entry/exit.c): kernel calls under one lock, interrupts noted
 * at once and worked off at the kernel's exit, strict priorities with inheritance. What its threads
 * do is random; a run is a function of its options. One thread.
 */
#ifndef TEST_HOST_FABRICATE_SIMULATE_H
#define TEST_HOST_FABRICATE_SIMULATE_H

#include "test/host/fabricate/mkcapture.h"
#include "test/host/fabricate/truth.h"

#define SIM_CPUS_MOST 8

struct sim_options {
    uint64_t seed;
    unsigned cpus;  /* 1 to SIM_CPUS_MOST */
    unsigned steps; /* actions of threads, interrupts; about six events each */
    bool losses;    /* buffers are lost: overwritten, no buffer, a ring's oldest, or missing */
    bool filters;   /* some classes aren't recorded; the header says so */
    bool fast;      /* the fast form: no priorities */
    bool no_death;  /* no thread or process ends */
};

/* The capture, complete; NULL: the options are wrong. The caller frees both. */
struct mk *sim_run(const struct sim_options *options, struct truth *truth);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs: objects made from opcodes.def, mostly sensible, sometimes not, and images of
 * them. All from one seed. Addresses that they may use are given by the test.
 */
#ifndef TEST_TRACE_DTRACE_RANDOM_PROGRAM_H
#define TEST_TRACE_DTRACE_RANDOM_PROGRAM_H

#include "trace/dtrace/image.h"

enum { P_OBJECTS = 12, P_TEXT = 96, P_INTS = 24, P_STRINGS = 640, P_VARS = 8, P_ROOM = 1 << 15 };

/* ---- chance ------------------------------------------------------------------------ */

void r_seed(uint64_t);
uint64_t r_next(void);
uint32_t r_below(uint32_t n); /* n > 0 */
bool r_chance(unsigned percent);
#define R_PICK(array) ((array)[r_below(sizeof(array) / sizeof((array)[0]))])

/* ---- programs ---------------------------------------------------------------------- */

struct p_object {
    dif_insn text[P_TEXT];
    uint64_t ints[P_INTS];
    char strings[P_STRINGS];
    struct dif_variable vars[P_VARS];
    struct dif_object object; /* of all these */
};

struct program {
    struct p_object objects[P_OBJECTS];
    uint32_t nobjects;
    struct dif_variable vars[P_VARS]; /* in every object */
    uint32_t nvars;
    uint64_t addresses[12]; /* that it may use */
    unsigned naddresses;
};

/* Variables, then objects of about so many instructions. */
void p_variables(struct program *);
/* A clause's expression: its result is a value of 8 bytes unless it says otherwise. */
void p_object(struct program *, uint32_t n, unsigned length);
void p_result(struct p_object *, struct dif_type);
/* Changes a field of an instruction, or a bit of anything: likely no longer valid. */
void p_damage(struct p_object *);

void p_show(const struct program *); /* prints it, for who repeats one */

/* An image under construction. */
struct p_image {
    _Alignas(16) uint8_t bytes[P_ROOM];
    size_t size;
    struct dtrace_image_option options[12];
    struct dtrace_image_ecb ecbs[8];
    struct dtrace_image_action actions[40];
    uint32_t noptions, necbs, nactions;
};
void p_option(struct p_image *, enum dtrace_option, uint64_t value);
struct dtrace_image *p_image(struct p_image *, const struct program *);

#endif

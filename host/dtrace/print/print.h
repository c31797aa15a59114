/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Printing of what records contain: values, stacks, symbols, formats, aggregations, typed values;
 * as text or as JSON. All functions write to the printer's `out`; they know no buffer and no
 * target. Internal to host/dtrace.
 */
#ifndef HOST_DTRACE_PRINT_PRINT_H
#define HOST_DTRACE_PRINT_PRINT_H

#include "host/dt/dt.h"
#include "host/dt/printf.h"
#include "host/dtrace/aggregation/aggregation.h"
#include "host/json_text.h"

struct printer {
    FILE *out;
    struct dt_session *session;
    struct agg_style style; /* style.quiet also for records */
    bool raw_bytes;         /* -x rawbytes: never guess that bytes are a string */
    unsigned stack_indent;
    unsigned pointer_bytes; /* the target's */
    int width_most;         /* columns of a conversion, or of an indent */
    /* Finds the program that a process runs, as the session's ELF files are named, and its load
     * bias; returns false if it is unknown. NULL: there is only one process, and any ELF file may
     * be its. */
    bool (*process)(void *arg, int32_t pid, const char **object, uint64_t *bias);
    void *process_arg;
    /* For that single process: gives the session its mapped objects. NULL: there are none. */
    void (*objects)(void *arg);
    void *objects_arg;
};

/* ---- values (datum.c) --------------------------------------------------------------- */

/* An integer as recorded, of 1, 2, 4 or 8 bytes. */
uint64_t datum_unsigned(const uint8_t *, uint32_t size);
int64_t datum_signed(const uint8_t *, uint32_t size);
static inline bool datum_is_number(uint32_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}
/* Returns the columns that an integer of this size is printed in. */
int datum_width(uint32_t size);
/* A bit field of a struct that begins at data: its bits, without sign extension. */
bool datum_is_bit_field(const struct dt_type *);
uint64_t datum_bit_field(const struct dt_type *, const uint8_t *data, uint64_t bit_offset);
/* Returns the bytes of text if data is text, with or without NULs after it; 0 if data is not text,
 * or the user wants raw bytes. */
uint32_t datum_text(const struct printer *, const uint8_t *data, uint32_t size);

/* trace(): an integer by its size, else a string or a dump. */
void print_datum(const struct printer *, const uint8_t *data, uint32_t size);
void print_padded_text(const struct printer *, const uint8_t *data, uint32_t size, uint32_t width);
/* A key of agghist and aggpack, to the right of its column. */
void print_narrow_text(const struct printer *, const uint8_t *data, uint32_t size, int width);
void print_dump(const struct printer *, const uint8_t *data, uint32_t size);

/* ---- addresses and stacks (symbol.c) ------------------------------------------------ */

/* The owner of an address: the kernel, or the process with this pid. */
typedef int64_t address_owner;
#define OF_KERNEL ((address_owner)-1)

struct print_value;
/* Prints what stack(), ustack() and jstack() recorded: a newline, then a frame a line; or what
 * sym(), mod(), usym(), umod() or uaddr() did: `before`, then the address by its name. Returns
 * false for a value that is none of these, which it doesn't print. */
bool print_place(const struct printer *, const struct print_value *, const char *before, int width);
void symbol_text(const struct printer *, uint64_t address, address_owner, char *to, size_t room);
void module_text(const struct printer *, uint64_t address, address_owner, char *to, size_t room);
/* Returns where the function or the object with this address begins, or the address if that is
 * unknown. */
uint64_t symbol_start(const struct printer *, uint64_t address, address_owner, bool module);
/* The names that helpers gave the frames of a recorded ustack() or jstack() of so many frames and
 * `size` bytes: the next one is "" for a frame without. */
struct stack_names {
    const char *at;
    size_t left;
};
void stack_names_open(struct stack_names *, const uint8_t *data, uint32_t size, uint32_t frames);
const char *stack_name_next(struct stack_names *);
/* Returns true at the frame after the last one: a frame of 0, unless it is the first and has
 * callers, which is a jump to 0. */
bool stack_ends(const uint8_t *data, uint32_t frame, uint32_t frames);

/* ---- formats (format.c) and types (typed.c) ----------------------------------------- */

/* A value of printf(), in the order of its conversions. */
struct print_value {
    enum dtrace_action_kind kind; /* DIFEXPR, STACK, SYM … */
    const uint8_t *data;
    uint32_t size;
    const struct dt_type *type; /* NULL: by size */
    uint64_t arg;               /* frames of a stack */
};
void print_format(const struct printer *, const struct dt_printf *, const struct print_value *,
                  unsigned nvalues);
/* Prints a conversion of a value; also for keys of printa(). */
void print_conversion(const struct printer *, const struct dt_conversion *, int width,
                      int precision, const struct print_value *);
/* print(): the type, then the value. */
void print_typed(const struct printer *, const struct dt_type *, const uint8_t *data);

/* ---- aggregations (aggregation.c) and their graphs (graph.c) ------------------------ */

/* printa(): the rows of these aggregations, by the format or, if it is NULL, as dtrace(1M) does. */
void print_aggregations(const struct printer *, struct aggregation *const *, unsigned naggs,
                        const struct dt_printf *);

struct graph_scale {
    double total; /* of |counts|: a bar of this much is 40 columns wide, or 20 on each side */
    bool positives, negatives;
    bool utf8;
};
struct graph_scale graph_scale_of(const int64_t *counts, unsigned n, bool zoom, bool utf8);
void graph_bar(const struct graph_scale *, int64_t count, FILE *);
/* A distribution: the heading, a row a bucket, and a blank line. */
void graph_print(const struct printer *, const struct aggregation *, const uint64_t *value);
/* aggpack: a row of cells for each key. */
void print_pack(const struct printer *, const struct aggregation *, struct agg_row *const *,
                size_t n);

/* ---- JSON (json.c) ------------------------------------------------------------------ */

/* Bytes without a better form: a string of hexadecimal digits. */
void json_hex(FILE *, const uint8_t *data, uint32_t size);
/* A number, a string, an object for a struct, an array. type NULL: by size. */
void json_value(FILE *, const uint8_t *data, uint32_t size, const struct dt_type *);
/* A recorded value; also an aggregation's key. */
void json_datum(const struct printer *, const struct dtrace_recdesc *, const uint8_t *base);
void json_aggregation(const struct printer *, struct aggregation *);

#endif

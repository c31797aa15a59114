/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Printing of records' contents: single data, stacks, symbols, formats, aggregations, typed values.
 * All functions write to `out` and are independent of buffers and targets. Internal to host/dtrace.
 */
#ifndef HOST_DTRACE_PRINT_H
#define HOST_DTRACE_PRINT_H

#include "host/dt/dt.h"
#include "host/dt/printf.h"
#include "host/dtrace/aggregation.h"

struct printer {
    FILE *out;
    struct dt_session *session;
    struct agg_style style; /* style.quiet also for records */
    bool raw_bytes;         /* -x rawbytes: never guess that bytes are a string */
    unsigned stack_indent;
    unsigned pointer_bytes; /* the target's */
    int width_most;         /* columns of a conversion, or of an indent */
    /* The program that a process runs, as the session's ELFs are named, and its load bias. False:
     * unknown. NULL: there is but one process, and any ELF may be its own. */
    bool (*process)(void *arg, int32_t pid, const char **object, uint64_t *bias);
    void *process_arg;
    /* For that single process: gives the session its mapped objects. NULL: nothing. */
    void (*objects)(void *arg);
    void *objects_arg;
};

/* Whose an address is: the kernel's, or the process's with this pid. */
typedef int64_t address_owner;
#define OF_KERNEL ((address_owner)-1)

/* A recorded integer of 1, 2, 4 or 8 bytes. */
uint64_t datum_unsigned(const uint8_t *, uint32_t size);
int64_t datum_signed(const uint8_t *, uint32_t size);
/* A member of a struct that begins at data; its bits as they are, whatever its sign. */
bool datum_is_bit_field(const struct dt_type *);
uint64_t datum_bit_field(const struct dt_type *, const uint8_t *data, uint64_t bit_offset);

/* trace(): an integer by its size, else a string or a dump. */
void print_datum(const struct printer *, const uint8_t *data, uint32_t size,
                 const struct dt_type *);
/* Bytes of the text that all of data is, with or without NULs behind it; 0: it is no text, or raw
 * bytes are wanted. */
uint32_t datum_text(const struct printer *, const uint8_t *data, uint32_t size);
void print_padded_text(const struct printer *, const uint8_t *data, uint32_t size, uint32_t width);
void print_dump(const struct printer *, const uint8_t *data, uint32_t size);
/* stack(), ustack() (data: pid first): a newline, then a frame a line. */
void print_stack(const struct printer *, const uint8_t *data, uint32_t frames);
void print_ustack(const struct printer *, const uint8_t *data, uint32_t frames);
/* sym(), mod(), usym() …: how an address is named. */
void print_address(const struct printer *, enum dtrace_action_kind, const uint8_t *data, int width);
void symbol_text(const struct printer *, uint64_t address, address_owner, char *to, size_t room);
void module_text(const struct printer *, uint64_t address, address_owner, char *to, size_t room);

/* Where the function or the object with this address begins; the address, if that is unknown. */
uint64_t symbol_start(const struct printer *, uint64_t address, address_owner, bool module);
/* At a frame of 0, unless it is the first and has callers: a jump to 0. */
bool stack_ends(const uint8_t *data, uint32_t frame, uint32_t frames);

/* A value of printf, in the order of its conversions. */
struct print_value {
    enum dtrace_action_kind kind; /* DIFEXPR, STACK, SYM … */
    const uint8_t *data;
    uint32_t size;
    const struct dt_type *type; /* NULL: by size */
    uint64_t arg;               /* frames of a stack */
};
void print_format(const struct printer *, const struct dt_printf *, const struct print_value *,
                  unsigned nvalues);
/* Prints a conversion of a value; also for keys of printa. */
void print_conversion(const struct printer *, const struct dt_conversion *, int width,
                      int precision, const struct print_value *);

/* A key of agghist and aggpack, to the right of its column. */
void print_narrow_text(const struct printer *, const uint8_t *data, uint32_t size, int width);
/* printa(): the rows of these aggregations, by the format or (NULL) the default. */
void print_aggregations(const struct printer *, struct aggregation *const *, unsigned naggs,
                        const struct dt_printf *);

/* aggpack: a row of cells for each key. */
void print_pack(const struct printer *, const struct aggregation *, struct agg_row *const *,
                size_t n);

/* print(): TYPE VALUE. */
void print_typed(const struct printer *, const struct dt_type *, const uint8_t *data);

#endif

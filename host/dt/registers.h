/* SPDX-License-Identifier: BSD-2-Clause */
/* The registers that uregs[] has, by the target's CPU. docs/reference/dif.md lists them. */
#ifndef HOST_DT_REGISTERS_H
#define HOST_DT_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum { DT_REGISTER_NAME = 16 };

struct dt_register_alias {
    const char *name;
    unsigned index;
};

struct dt_registers {
    unsigned machine; /* an ELF's e_machine */
    const char *cpu;
    const char *const *names; /* without R_, in small letters */
    unsigned count;
    const struct dt_register_alias *shared; /* ends with NULL */
};

extern const struct dt_registers *const dt_registers_all; /* ends with a cpu of NULL */

/* Returns NULL if the machine's registers have no names. */
const struct dt_registers *dt_registers_of(unsigned machine);
/* Writes the constant's name; false: there is no such register. */
bool dt_register_name(unsigned machine, uint64_t index, char name[DT_REGISTER_NAME]);

#endif

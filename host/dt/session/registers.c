/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of a target's registers in D: R_ and the name in capitals, a constant that is the index
 * in uregs[]. They are those of crash records (abi/sys/panic.h), as far as a thread has them, and
 * names that programs for several CPUs share.
 */
#include "host/dt/registers.h"

#include "abi/sys/panic.h"

#include <ctype.h>
#include <elf.h>
#include <stddef.h>

static const char *const registers_arm_names[] = {
#define REGISTER(name) #name,
    KYMO_REGISTERS_ARM(REGISTER)};
static const char *const registers_aarch64_names[] = {KYMO_REGISTERS_AARCH64(REGISTER)};
static const char *const registers_x86_64_names[] = {KYMO_REGISTERS_X86_64(REGISTER)
#undef REGISTER
};

static const struct dt_register_alias arm_shared[] = {
    {"R_FP", KYMO_PANIC_ARM_r7}, {"R_PS", KYMO_PANIC_ARM_xpsr}, {NULL, 0}};
static const struct dt_register_alias aarch64_shared[] = {
    {"R_R0", KYMO_PANIC_AARCH64_x0},  {"R_R1", KYMO_PANIC_AARCH64_x1},
    {"R_FP", KYMO_PANIC_AARCH64_x29}, {"R_LR", KYMO_PANIC_AARCH64_x30},
    {"R_PS", KYMO_PANIC_AARCH64_psr}, {NULL, 0}};
static const struct dt_register_alias x86_64_shared[] = {{"R_R0", KYMO_PANIC_X86_64_rax},
                                                         {"R_R1", KYMO_PANIC_X86_64_rdx},
                                                         {"R_FP", KYMO_PANIC_X86_64_rbp},
                                                         {"R_SP", KYMO_PANIC_X86_64_rsp},
                                                         {"R_PC", KYMO_PANIC_X86_64_rip},
                                                         {"R_PS", KYMO_PANIC_X86_64_rflags},
                                                         {NULL, 0}};

static const struct dt_registers registers_machine_table[] = {
    {EM_ARM, "Cortex-M", registers_arm_names, KYMO_PANIC_ARM_xpsr + 1, arm_shared},
    {EM_AARCH64, "AArch64", registers_aarch64_names, KYMO_PANIC_AARCH64_psr + 1, aarch64_shared},
    {EM_X86_64, "x86-64", registers_x86_64_names, KYMO_PANIC_X86_64_rflags + 1, x86_64_shared},
    {0, NULL, NULL, 0, NULL}};

const struct dt_registers *const dt_registers_all = registers_machine_table;

const struct dt_registers *dt_registers_of(unsigned machine)
{
    const struct dt_registers *r = registers_machine_table;

    while (r->cpu && r->machine != machine) {
        r++;
    }
    return r->cpu ? r : NULL;
}

bool dt_register_name(unsigned machine, uint64_t index, char name[DT_REGISTER_NAME])
{
    const struct dt_registers *r = dt_registers_of(machine);

    if (!r || index >= r->count) {
        return false;
    }
    const char *from = r->names[index];
    *name++ = 'R';
    *name++ = '_';
    do {
        *name++ = (char)toupper((unsigned char)*from);
    } while (*from++);
    return true;
}

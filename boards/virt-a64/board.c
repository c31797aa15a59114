/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QEMU's `virt` machine: the board's functions of kernel/arch/ and of the AArch64 port. README.md
 * has the map. RAM and CPUs come from the device tree; without one, from board.mk. Tested by the
 * boots.
 */
#include "boards/board.h"
#include "boards/drivers/fdt.h"
#include "boards/drivers/gicv2.h"
#include "boards/drivers/gicv2_a64.h"
#include "boards/drivers/pl011.h"
#include "boards/drivers/psci.h"
#include "abi/errno.h"
#include "kernel/arch/aarch64/board.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"

#define DEVICES 0x08000000ul /* interrupt controller, UART, RTC, GPIO, virtio */
#define DEVICES_BYTES 0x02800000ul
#define GIC_DIST 0x08000000ul
#define GIC_CPU 0x08010000ul
#define UART 0x09000000ul
#define RTC 0x09010000ul
#define RAM 0x40000000ul
#define RAM_MAP_MAX 0x3f00000000ul /* limit of the kernel's map */
#define FDT_BYTES_MAX 0x100000ul

#define REFUSED 2 /* exit status: not a machine that this kernel supports */

_Static_assert(CONFIG_CPUS <= GIC_MAX_CPUS && CONFIG_CPUS <= FDT_MAX_CPUS, "more need a GIC v3");

/* Devices that a driver process may map: not the flash, and not fw_cfg, whose DMA writes
 * anywhere. */
const struct a64_region a64_board_driver_devices[] = {
    {UART, 0x1000}, /* the console's; a server may take over its input */
    {RTC, 0x1000},
    {0x09030000, 0x1000}, /* PL061 GPIO */
    {0x0a000000, 0x4000}, /* virtio-mmio */
    {0, 0},
};

const struct a64_region a64_board_devices[] = {{DEVICES, DEVICES_BYTES}, {0, 0}};

A64_BOOT_MAP uint64_t a64_boot_l1[512] = {
    [0] = A64_BOOT_DEVICE + 0, [1] = A64_BOOT_NORMAL + RAM, /* its first GB */
};

static struct fdt_facts machine; /* [I] */

static uintptr_t board_device(uintptr_t pa)
{
    return (uintptr_t)arch_phys_to_virt(pa);
}

/* QEMU leaves the tree at the start of RAM but reports its address to Linux images only. */
static void machine_read(void)
{
    const uintptr_t places[] = {a64_loader_x0, RAM};
    bool found = false;

    for (unsigned i = 0; i < 2 && !found; i++) {
        found = range_inside(places[i], FDT_BYTES_MAX, RAM, 0x40000000ul) && (places[i] & 3) == 0 &&
                fdt_read(arch_phys_to_virt(places[i]), FDT_BYTES_MAX, &machine);
    }
    if (machine.ram_len == 0 || machine.ram_start != RAM) {
        machine.ram_start = RAM;
        machine.ram_len = BOARD_RAM_BYTES;
    }
    if (machine.ram_len > RAM_MAP_MAX) {
        machine.ram_len = RAM_MAP_MAX;
    }
    if (machine.cpus == 0) {
        machine.cpus = 1;
    }
    if (machine.cpus > CONFIG_CPUS) {
        machine.cpus = CONFIG_CPUS;
    }
}

void arch_board_init(void)
{
    pl011_init(board_device(UART));
    machine_read();
}

struct a64_region a64_board_ram(void)
{
    return (struct a64_region){machine.ram_start, machine.ram_len & ~0x1ffffful};
}

/* ---- CPUs and power ---------------------------------------------------------------- */

/* A kernel started at EL2 has firmware above EL2, called by SMC; otherwise there is a hypervisor,
 * called by HVC. */
static bool firmware_by_smc(void)
{
    return a64_started_at_el2 != 0;
}

unsigned arch_cpu_count(void)
{
    return machine.cpus;
}

int arch_cpu_start(unsigned n)
{
    if (n == 0 || n >= machine.cpus) {
        return -EINVAL;
    }
    return psci_cpu_on(firmware_by_smc(), machine.cpu_reg[n],
                       arch_virt_to_phys((const void *)a64_secondary), n);
}

/* Without semihosting there is no exit status. */
void arch_shutdown(int status)
{
    a64_host_exit(status);
    psci_system_off(firmware_by_smc());
    a64_stop();
}

void arch_reset(void)
{
    psci_system_reset(firmware_by_smc());
    a64_stop();
}

/* ---- interrupts -------------------------------------------------------------------- */

void a64_board_irq_init(void)
{
    if (!gic_is_v2(board_device(GIC_DIST))) {
        kprintf("kymo on %s: no GIC v2 on this machine; in QEMU it is -M virt,gic-version=2\n",
                BOARD_NAME);
        arch_shutdown(REFUSED);
    }
    gic_board_init(board_device(GIC_DIST), board_device(GIC_CPU));
}

const char *arch_irq_name(unsigned irq)
{
#define VIRTIO(n) [GIC_FIRST_EXTERNAL + 16 + (n)] = "virtio" #n
    static const char *const names[] = {
        [33] = "uart0", [34] = "rtc",  [35] = "pcie0", [36] = "pcie1", [37] = "pcie2",
        [38] = "pcie3", [39] = "gpio", VIRTIO(0),      VIRTIO(1),      VIRTIO(2),
        VIRTIO(3),      VIRTIO(4),     VIRTIO(5),      VIRTIO(6),      VIRTIO(7),
        VIRTIO(8),      VIRTIO(9),     VIRTIO(10),     VIRTIO(11),     VIRTIO(12),
        VIRTIO(13),     VIRTIO(14),    VIRTIO(15),     VIRTIO(16),     VIRTIO(17),
        VIRTIO(18),     VIRTIO(19),    VIRTIO(20),     VIRTIO(21),     VIRTIO(22),
        VIRTIO(23),     VIRTIO(24),    VIRTIO(25),     VIRTIO(26),     VIRTIO(27),
        VIRTIO(28),     VIRTIO(29),    VIRTIO(30),     VIRTIO(31),
    };
#undef VIRTIO
    return irq < GIC_FIRST_EXTERNAL                 ? gic_irq_name(irq)
           : irq < sizeof(names) / sizeof(names[0]) ? names[irq]
                                                    : NULL;
}

/* ---- console, clock ------------------------------------------------------------------ */

void arch_console_putc(char c)
{
    pl011_putc(board_device(UART), c);
}

bool arch_console_ready(void)
{
    return pl011_ready(board_device(UART));
}

/* Not supported: this machine has no watchdog. */
int arch_watchdog_set(unsigned ms)
{
    (void)ms;
    return -ENOSYS;
}

/* PL031: its first register counts the seconds. */
uint64_t arch_wall_clock(void)
{
    return mmio_read(board_device(RTC));
}

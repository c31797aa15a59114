/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Xilinx ZCU102 (Zynq UltraScale+, UG1085 and UG1087): the board's functions of kernel/arch/ and of
 * the AArch64 port. README.md has the map. Any context unless kernel/arch/ says otherwise. Tested
 * by the boots.
 */
#include "boards/board.h"
#include "boards/drivers/gicv2_a64.h"
#include "boards/drivers/psci.h"
#include "abi/errno.h"
#include "kernel/arch/aarch64/board.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"

#define CPUS 4
#define GB3 0xc0000000ul /* the GB that contains all devices */
#define GIC_DIST 0xf9010000ul
#define GIC_CPU 0xf9020000ul
#define PERIPHERALS 0xff000000ul /* UARTs to RTC; not the on-chip memory after them */
#define PERIPHERALS_BYTES 0x00c00000ul
#define UART 0xff000000ul
#define RTC_CURRENT 0xffa60010ul

#define UART_CONTROL 0x00
#define UART_ENABLED 0x14u /* both directions */
#define UART_INTERRUPTS_OFF 0x0c
#define UART_STATUS 0x2c
#define UART_FULL 0x10u
#define UART_FIFO 0x30

_Static_assert(CONFIG_CPUS == CPUS, "the chip's");

/* Devices that a driver process may map: no DMA, no clocks, no power, no flash. */
const struct a64_region a64_board_driver_devices[] = {
    {UART, 0x1000},       /* the console's; a server may take over its input */
    {0xff010000, 0x1000}, /* UART 1 */
    {0xff0a0000, 0x1000}, /* GPIO */
    {0xff110000, 0x1000}, /* the first of four triple timer counters */
    {0xffa60000, 0x1000}, /* RTC */
    {0, 0},
};

const struct a64_region a64_board_devices[] = {
    {0xf9000000, 0x200000}, {PERIPHERALS, PERIPHERALS_BYTES}, {0, 0}};

A64_BOOT_MAP uint64_t a64_boot_l1[512] = {
    [0] = A64_BOOT_NORMAL + 0, [3] = A64_BOOT_DEVICE + GB3, /* RAM; devices */
};

static uintptr_t zcu_device(uintptr_t pa)
{
    return (uintptr_t)arch_phys_to_virt(pa);
}

/* The line's speed stays as the firmware has set it. */
void arch_board_init(void)
{
    mmio_write(zcu_device(UART) + UART_INTERRUPTS_OFF, 0xffffffff);
    mmio_write(zcu_device(UART) + UART_CONTROL, UART_ENABLED);
}

struct a64_region a64_board_ram(void)
{
    return (struct a64_region){0, BOARD_RAM_BYTES};
}

/* ---- CPUs and power: PSCI, called by SMC at whatever level the kernel was entered ------ */

unsigned arch_cpu_count(void)
{
    return CPUS;
}

int arch_cpu_start(unsigned n)
{
    if (n == 0 || n >= CPUS) {
        return -EINVAL;
    }
    return psci_cpu_on(true, n, arch_virt_to_phys((const void *)a64_secondary), n);
}

/* Without semihosting there is no exit status. */
void arch_shutdown(int status)
{
    a64_host_exit(status);
    psci_system_off(true);
    a64_stop();
}

void arch_reset(void)
{
    psci_system_reset(true);
    a64_stop();
}

/* Not supported: QEMU's machine lacks the chip's watchdogs. */
int arch_watchdog_set(unsigned ms)
{
    (void)ms;
    return -ENOSYS;
}

/* ---- interrupts -------------------------------------------------------------------- */

void a64_board_irq_init(void)
{
    gic_board_init(zcu_device(GIC_DIST), zcu_device(GIC_CPU));
}

const char *arch_irq_name(unsigned irq)
{
    static const char *const names[] = {
        [48] = "gpio", [53] = "uart0", [54] = "uart1", [58] = "rtc", [80] = "sd0", [81] = "sd1",
    };
    return irq < GIC_FIRST_EXTERNAL                 ? gic_irq_name(irq)
           : irq < sizeof(names) / sizeof(names[0]) ? names[irq]
                                                    : NULL;
}

/* ---- console, clock ------------------------------------------------------------------ */

bool arch_console_ready(void)
{
    return !(mmio_read(zcu_device(UART) + UART_STATUS) & UART_FULL);
}

void arch_console_putc(char c)
{
    while (!arch_console_ready()) {
    }
    mmio_write(zcu_device(UART) + UART_FIFO, (uint8_t)c);
}

/* Returns the seconds as the clock was set; a new board's clock counts from 0. */
uint64_t arch_wall_clock(void)
{
    return mmio_read(zcu_device(RTC_CURRENT));
}

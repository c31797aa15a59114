/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raspberry Pi 3: the board's functions of kernel/arch/ and of the AArch64 port. Addresses are the
 * CPUs' view (BCM2835 ARM Peripherals, with 0x3f for 0x7e; QA7). README.md has the map. Any context
 * unless kernel/arch/ says otherwise. Tested by the boots.
 */
#include "boards/board.h"
#include "boards/drivers/bcm2836.h"
#include "boards/drivers/pl011.h"
#include "abi/errno.h"
#include "kernel/arch/aarch64/board.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"

#define CPUS 4
#define RAM_BYTES 0x3b000000ul /* the firmware's part may begin here: README.md */
#define PERIPHERALS 0x3f000000ul
#define PERIPHERALS_BYTES 0x01000000ul
#define CPUS_BLOCK 0x40000000ul /* interrupts and mailboxes of the CPUs */
#define CPUS_BLOCK_BYTES 0x00200000ul
#define INTERRUPTS 0x3f00b000ul
#define POWER 0x3f100000ul
#define GPIO 0x3f200000ul
#define UART 0x3f201000ul
#define SPIN_TABLE 0xd8ul /* of the firmware: one word per CPU */

/* Functions of pins, ten per register, three bits each. */
#define GPIO_SELECT_1 0x04
#define PINS_14_15 (077u << 12)
#define PINS_14_15_UART (044u << 12) /* function 0 */
#define GPIO_SELECT_4 0x10
#define PINS_48_49_EMMC (077u << 24) /* function 3 */
#define GPIO_SELECT_5 0x14
#define PINS_50_53_EMMC 07777u

#define UART_IBRD 0x24
#define UART_FBRD 0x28
#define UART_LCRH 0x2c
#define UART_LCRH_8N1_FIFO 0x70
#define UART_DIVISOR_64 1667u /* 64ths: 48 MHz / (16 * 115200) */

#define POWER_RSTC 0x1c
#define POWER_RSTS 0x20
#define POWER_WDOG 0x24
#define POWER_PASSWORD 0x5a000000u
#define RSTC_KEEP 0xffffffcfu
#define RSTC_FULL_RESET 0x20u
#define RSTS_PARTITION 0x555u /* the boot partition is in every other bit; all ones: halt */
#define WDOG_TICKS 10u        /* of 1/65536 s */

#define MAILBOX_IPI 0
#define MAILBOX_SAMPLED 1

_Static_assert(CONFIG_CPUS == CPUS, "the chip's");

/* Devices that a driver process may map: none that can access any memory on behalf of its user and
 * is not driven by the kernel (DMA, the firmware's mailbox, USB), and none that resets the
 * machine. */
const struct a64_region a64_board_driver_devices[] = {
    {0x3f003000, 0x1000}, /* the system timer */
    {0x3f104000, 0x1000}, /* the random number generator */
    {GPIO, 0x1000},
    {UART, 0x1000},       /* the console's; a server may take over its input */
    {0x3f202000, 0x1000}, /* SDHOST */
    {0x3f215000, 0x1000}, /* mini UART, SPI 1 and 2 */
    {0x3f300000, 0x1000}, /* EMMC */
    {0, 0},
};

const struct a64_region a64_board_devices[] = {
    {PERIPHERALS, PERIPHERALS_BYTES}, {CPUS_BLOCK, CPUS_BLOCK_BYTES}, {0, 0}};

#define BLOCK 0x200000ul
#define RAM_2MB(n) [n] = A64_BOOT_NORMAL + (n)*BLOCK
#define DEVICES_2MB(address) [(address) / BLOCK] = A64_BOOT_DEVICE + (address)

/* The first GB has RAM and devices; memory after the retained memory is only in the final map. */
static A64_BOOT_MAP uint64_t boot_l2[512] = {
    RAM_2MB(0),
    RAM_2MB(1),
    RAM_2MB(2),
    RAM_2MB(3),
    RAM_2MB(4),
    RAM_2MB(5),
    RAM_2MB(6),
    RAM_2MB(7),
    RAM_2MB(8),
    RAM_2MB(9),
    DEVICES_2MB(PERIPHERALS),
    DEVICES_2MB(GPIO),
};
A64_BOOT_MAP uint64_t a64_boot_l1[512] = {
    [0] = (uintptr_t)boot_l2 - KERNEL_VIRT + A64_BOOT_TABLE, [1] = A64_BOOT_DEVICE + CPUS_BLOCK};

/* Defined in head.S. */
extern volatile uint64_t raspi3_parked[CPUS];
void raspi3_secondary(void);

static uintptr_t pi_device(uintptr_t pa)
{
    return (uintptr_t)arch_phys_to_virt(pa);
}

static void pins_set(unsigned select, uint32_t pins, uint32_t functions)
{
    uintptr_t at = pi_device(GPIO) + select;

    mmio_write(at, (mmio_read(at) & ~pins) | functions);
}

/* Connects the UART to the header and the SD card to the EMMC, where the firmware may have left the
 * mini UART and SDHOST. */
static void pins_init(void)
{
    pins_set(GPIO_SELECT_1, PINS_14_15, PINS_14_15_UART);
    pins_set(GPIO_SELECT_4, PINS_48_49_EMMC, PINS_48_49_EMMC);
    pins_set(GPIO_SELECT_5, PINS_50_53_EMMC, PINS_50_53_EMMC);
}

/* Sets 115200 baud; config.txt sets the UART's clock. */
static void uart_init(void)
{
    uintptr_t uart = pi_device(UART);

    mmio_write(uart + UART_IBRD, UART_DIVISOR_64 / 64);
    mmio_write(uart + UART_FBRD, UART_DIVISOR_64 % 64);
    mmio_write(uart + UART_LCRH, UART_LCRH_8N1_FIFO);
    pl011_init(uart);
}

void arch_board_init(void)
{
    pins_init();
    uart_init();
}

struct a64_region a64_board_ram(void)
{
    return (struct a64_region){0, RAM_BYTES};
}

/* ---- CPUs and power ---------------------------------------------------------------- */

unsigned arch_cpu_count(void)
{
    return CPUS;
}

/* The CPU waits with its caches off, in the firmware's loop or in head.S. */
static void cpu_release(volatile uint64_t *word)
{
    *word = arch_virt_to_phys((const void *)raspi3_secondary);
    arch_cache_clean((const void *)(uintptr_t)word, sizeof(*word));
}

int arch_cpu_start(unsigned n)
{
    if (n == 0 || n >= CPUS) {
        return -EINVAL;
    }
    cpu_release(&raspi3_parked[n]);
    cpu_release((volatile uint64_t *)arch_phys_to_virt(SPIN_TABLE) + n);
    __asm__ volatile("dsb sy\n\tsev" ::: "memory");
    return 0;
}

/* Makes the firmware boot again, or halt, by the watchdog of the power manager. */
static void power_reset(uint32_t partition)
{
    uintptr_t power = pi_device(POWER);

    mmio_write(power + POWER_RSTS,
               POWER_PASSWORD | (mmio_read(power + POWER_RSTS) & ~RSTS_PARTITION) | partition);
    mmio_write(power + POWER_WDOG, POWER_PASSWORD | WDOG_TICKS);
    mmio_write(power + POWER_RSTC,
               POWER_PASSWORD | (mmio_read(power + POWER_RSTC) & RSTC_KEEP) | RSTC_FULL_RESET);
    a64_stop();
}

/* Without semihosting there is no exit status. */
void arch_shutdown(int status)
{
    a64_host_exit(status);
    power_reset(RSTS_PARTITION);
    a64_stop();
}

void arch_reset(void)
{
    power_reset(0);
    a64_stop();
}

/* Not supported: the watchdog resets without a preceding interrupt, so a panic would leave no
 * record of itself, and QEMU's resets as soon as it is armed. */
int arch_watchdog_set(unsigned ms)
{
    (void)ms;
    return -ENOSYS;
}

/* ---- interrupts -------------------------------------------------------------------- */

static inline unsigned pi_cpu(void)
{
    uint64_t mpidr;

    __asm__("mrs %0, mpidr_el1" : "=r"(mpidr));
    return mpidr & (CPUS - 1);
}

void a64_board_irq_init(void)
{
    bcm_irq_init(pi_device(CPUS_BLOCK), pi_device(INTERRUPTS));
}

void a64_board_irq_cpu_init(unsigned n)
{
    bcm_cpu_init(n);
}

/* [c] number of interrupts taken and not ended, because an FIQ may interrupt an IRQ's handler. The
 * controller doesn't record it. */
static uint8_t taken[CPUS];

struct a64_irq a64_board_irq_take(void)
{
    const unsigned cpu = pi_cpu();
    uint32_t number = bcm_take(cpu);

    taken[cpu] += number != BCM_NONE;
    return (struct a64_irq){number != BCM_NONE ? number : A64_IRQ_NONE, number};
}

/* The controller needs no end: the first part has masked the line, or quieted the timer, or cleared
 * the mailbox. */
void a64_board_irq_end(uint32_t token)
{
    (void)token;
    taken[pi_cpu()]--;
}

bool a64_board_irq_taken(void)
{
    return taken[pi_cpu()] > 0;
}

unsigned a64_board_irq_timer(void)
{
    return BCM_VIRTUAL_TIMER;
}

unsigned a64_board_irq_ipi(void)
{
    return BCM_MAILBOX(MAILBOX_IPI);
}

unsigned a64_board_irq_sample(void)
{
    return BCM_PHYSICAL_TIMER;
}

bool a64_board_irq_is_fiq(unsigned number)
{
    return number == BCM_PHYSICAL_TIMER;
}

/* The monitors' lines are not modelled by QEMU, and not supported by this board. */
unsigned a64_board_irq_count(void)
{
    return A64_IRQ_NONE;
}

bool a64_board_count_pending(void)
{
    return false;
}

unsigned a64_board_fiq_take(uint32_t *token)
{
    const unsigned cpu = pi_cpu();
    const bool pending = bcm_fiq_pending(cpu);

    *token = BCM_PHYSICAL_TIMER;
    taken[cpu] += pending;
    return pending ? BCM_PHYSICAL_TIMER : A64_IRQ_NONE;
}

unsigned a64_board_irq_sampled(void)
{
    return BCM_MAILBOX(MAILBOX_SAMPLED);
}

void a64_board_sampled_raise(void)
{
    bcm_send(1u << pi_cpu(), MAILBOX_SAMPLED);
}

void arch_ipi(uint32_t cpus)
{
    bcm_send(cpus & ((1u << CPUS) - 1), MAILBOX_IPI);
}

unsigned arch_irq_count(void)
{
    return BCM_LOCAL;
}

bool arch_irq_reserved(unsigned irq)
{
    return irq >= BCM_LOCAL;
}

void arch_irq_mask(unsigned irq)
{
    if (irq < BCM_LOCAL) {
        bcm_mask(irq);
    }
}

void arch_irq_unmask(unsigned irq)
{
    if (irq < BCM_LOCAL) {
        bcm_unmask(irq);
    }
}

const char *arch_irq_name(unsigned irq)
{
    static const char *const names[] = {
        [0] = "systimer0",
        [1] = "systimer1",
        [2] = "systimer2",
        [3] = "systimer3",
        [9] = "usb",
        [29] = "aux",
        [49] = "gpio0",
        [50] = "gpio1",
        [51] = "gpio2",
        [52] = "gpio3",
        [53] = "i2c",
        [54] = "spi",
        [55] = "pcm",
        [56] = "sdhost",
        [57] = "uart0",
        [62] = "emmc",
        [BCM_PHYSICAL_TIMER] = "sample",
        [BCM_VIRTUAL_TIMER] = "timer",
        [BCM_MAILBOX(MAILBOX_IPI)] = "ipi",
        [BCM_MAILBOX(MAILBOX_SAMPLED)] = "sampled",
    };
    return irq < sizeof(names) / sizeof(names[0]) ? names[irq] : NULL;
}

/* ---- console, clock ------------------------------------------------------------------ */

void arch_console_putc(char c)
{
    pl011_putc(pi_device(UART), c);
}

bool arch_console_ready(void)
{
    return pl011_ready(pi_device(UART));
}

/* This board has no real-time clock. */
uint64_t arch_wall_clock(void)
{
    return 0;
}

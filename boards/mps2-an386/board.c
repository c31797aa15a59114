/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPS2+ AN386: the board's functions of kernel/arch/. Addresses are those of Arm DAI 0386;
 * README.md has the map. Any context unless kernel/arch/ says otherwise. Tested by the boot tests.
 */
#include "boards/board.h"
#include "boards/drivers/cmsdk.h"
#include "abi/sys/kymo.h"
#include "kernel/arch/armv7m/board.h"
#include "kernel/arch/board.h"
#include "kernel/arch/irq.h"

#define UART0 0x40004000u
#define UART_DIVISOR 217 /* 25 MHz / 115200 */
#define TIMER0 0x40000000u
#define DUAL_TIMER 0x40002000u
#define WATCHDOG 0x40008000u
#define WATCHDOG_HZ CONFIG_CLOCK_HZ

#define PSRAM 0x21000000u /* processes and trace buffers */
#define PSRAM_BYTES 0x01000000u
#define PERIPHERALS 0x40000000u
#define PERIPHERALS_BYTES 0x10000000u
#define PERIPHERAL_PAGE 0x1000u

#define IRQ_SYSTICK 32 /* not a line: the number under which the timer interrupt is traced */

static const char *const irq_names[] = {
    [0] = "uart0_rx",
    [1] = "uart0_tx",
    [2] = "uart1_rx",
    [3] = "uart1_tx",
    [4] = "uart2_rx",
    [5] = "uart2_tx",
    [6] = "gpio0",
    [7] = "gpio1",
    [CONFIG_SAMPLED_IRQ] = "sample",
    [9] = "timer1",
    [CONFIG_SAMPLE_IRQ] = "dual",
    [11] = "spi",
    [12] = "uart_ovf",
    [13] = "eth",
    [14] = "audio",
    [15] = "touch",
    [16] = "gpio2",
    [17] = "gpio3",
    [18] = "uart3_rx",
    [19] = "uart3_tx",
    [20] = "uart4_rx",
    [21] = "uart4_tx",
    [IRQ_SYSTICK] = "systick",
};

void arch_board_init(void)
{
    cmsdk_uart_init(UART0, UART_DIVISOR);
    cmsdk_timer_free_run(TIMER0);
}

void arch_console_putc(char c)
{
    cmsdk_uart_putc(UART0, c);
}

bool arch_console_ready(void)
{
    return cmsdk_uart_ready(UART0);
}

void armv7m_board_sample_after(uint32_t cycles)
{
    cmsdk_dual_once(DUAL_TIMER, cycles);
}

int arch_watchdog_set(unsigned ms)
{
    return cmsdk_watchdog_set(WATCHDOG, WATCHDOG_HZ, ms);
}

/* This board has no real-time clock. */
uint64_t arch_wall_clock(void)
{
    return 0;
}

const char *arch_irq_name(unsigned irq)
{
    return irq < sizeof(irq_names) / sizeof(irq_names[0]) ? irq_names[irq] : NULL;
}

void arch_ram(paddr_t *start, size_t *len)
{
    *start = PSRAM;
    *len = PSRAM_BYTES;
}

/* Allows everything on the peripheral buses except the trace clock, the sampling interrupt's timer,
 * and the watchdog, with which a process could reset the machine without the ability. */
bool arch_device_allowed(paddr_t pa, size_t len)
{
    return range_inside(pa, len, PERIPHERALS, PERIPHERALS_BYTES) &&
           !ranges_overlap(pa, len, TIMER0, PERIPHERAL_PAGE) &&
           !ranges_overlap(pa, len, DUAL_TIMER, PERIPHERAL_PAGE) &&
           !ranges_overlap(pa, len, WATCHDOG, PERIPHERAL_PAGE);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boards with an STM32F405 or F407: the board's functions of kernel/arch/. Addresses are those of
 * ST's RM0090; README.md has the map. Any context unless kernel/arch/ says otherwise. Tested by the
 * boot tests, in QEMU's netduinoplus2.
 */
#include "abi/errno.h"
#include "abi/sys/kymo.h"
#include "boards/board.h"
#include "boards/drivers/stm32.h"
#include "kernel/arch/armv7m/board.h"
#include "kernel/arch/board.h"
#include "kernel/arch/irq.h"

#define TIM2 0x40000000u
#define TIM5 0x40000c00u
#define USART2 0x40004400u
#define USART3 0x40004800u
#define GPIOA 0x40020000u
#define GPIOB 0x40020400u
#define USARTS 7u /* alternate function of USART1 to 3 */

#define APB1_HZ 42000000u
#define BAUD 115200u
#define DIVISOR ((APB1_HZ + BAUD / 2) / BAUD)

/* The timers' clock is twice APB1's. QEMU's timers count at 1 GHz: by 12 that is 0.8 % slow. */
#define TIMER_DIVISOR 1
#define TIMER_DIVISOR_EMULATED 12

/* A process may have no device by which it could access memory other than its own (all bus masters
 * are on AHB1 and above), reset the chip or stop a clock. */
#define PERIPHERALS 0x40000000u
#define PERIPHERALS_BYTES 0x00023000u /* APB1, APB2, GPIO, CRC */
#define DEVICE_BYTES 0x400u
static const uint32_t denied[] = {
    TIM2,        TIM5, 0x40002800u, /* RTC */
    0x40002c00u,                    /* WWDG */
    0x40003000u,                    /* IWDG */
    0x40007000u,                    /* PWR */
};

static const char *const irq_names[] = {
    [0] = "wwdg",
    [6] = "exti0",
    [7] = "exti1",
    [8] = "exti2",
    [9] = "exti3",
    [10] = "exti4",
    [18] = "adc",
    [19] = "can1_tx",
    [20] = "can1_rx0",
    [23] = "exti9_5",
    [25] = "tim1_up",
    [28] = "tim2",
    [29] = "tim3",
    [30] = "tim4",
    [31] = "i2c1_ev",
    [32] = "i2c1_er",
    [35] = "spi1",
    [36] = "spi2",
    [37] = "usart1",
    [38] = "usart2",
    [39] = "usart3",
    [40] = "exti15_10",
    [CONFIG_SAMPLE_IRQ] = "tim5",
    [51] = "spi3",
    [52] = "uart4",
    [53] = "uart5",
    [54] = "tim6",
    [55] = "tim7",
    [61] = "eth",
    [67] = "otg_fs",
    [71] = "usart6",
    [CONFIG_SAMPLED_IRQ] = "sample",
    [CONFIG_IRQ_LINES] = "systick", /* not a line: the number under which it is traced */
};

static unsigned timer_divisor; /* [I] */

void arch_board_init(void)
{
    timer_divisor = stm32_clock_168mhz(CONFIG_CRYSTAL_MHZ) ? TIMER_DIVISOR : TIMER_DIVISOR_EMULATED;
    stm32_enable(STM32_AHB1_GPIOA | STM32_AHB1_GPIOB,
                 STM32_APB1_TIM2 | STM32_APB1_TIM5 | STM32_APB1_USART2 | STM32_APB1_USART3);
    stm32_pin_alternate(GPIOA, 2, USARTS);
    stm32_pin_alternate(GPIOA, 3, USARTS);
    stm32_pin_alternate(GPIOB, 10, USARTS);
    stm32_pin_alternate(GPIOB, 11, USARTS);
    stm32_usart_init(USART2, DIVISOR);
    stm32_usart_init(USART3, DIVISOR);
    stm32_timer_free_run(TIM2, timer_divisor);
}

void arch_console_putc(char c)
{
    stm32_usart_putc(USART2, c);
}

bool arch_console_ready(void)
{
    return stm32_usart_ready(USART2);
}

void armv7m_board_sample_after(uint32_t cycles)
{
    stm32_timer_once(TIM5, timer_divisor, cycles);
}

/* The chip's independent watchdog can't be stopped once it runs, as this call requires. */
int arch_watchdog_set(unsigned ms)
{
    (void)ms;
    return -ENOSYS;
}

/* The calendar is not used: many boards have neither its crystal nor a battery. */
uint64_t arch_wall_clock(void)
{
    return 0;
}

const char *arch_irq_name(unsigned irq)
{
    return irq < sizeof(irq_names) / sizeof(irq_names[0]) ? irq_names[irq] : NULL;
}

#ifndef CONFIG_RAM_START
#define CONFIG_RAM_START __kernel_end /* after the kernel's data */
#endif

void arch_ram(paddr_t *start, size_t *len)
{
    *start = (paddr_t)CONFIG_RAM_START;
    *len = CONFIG_RAM_END - *start;
}

bool arch_device_allowed(paddr_t pa, size_t len)
{
    for (unsigned i = 0; i < sizeof(denied) / sizeof(denied[0]); i++) {
        if (ranges_overlap(pa, len, denied[i], DEVICE_BYTES)) {
            return false;
        }
    }
    return range_inside(pa, len, PERIPHERALS, PERIPHERALS_BYTES);
}

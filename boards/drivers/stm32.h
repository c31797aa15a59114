/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices of the STM32F405 and F407: clocks, pins, USARTs, timers. Source: ST's RM0090. Polled; any
 * context. QEMU 7.2 has neither clock control nor pins: their registers read 0 there and ignore
 * writes, so every wait in these drivers is bounded.
 */
#ifndef BOARDS_DRIVERS_STM32_H
#define BOARDS_DRIVERS_STM32_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of the enable registers of RCC. */
#define STM32_AHB1_GPIOA (1u << 0)
#define STM32_AHB1_GPIOB (1u << 1)
#define STM32_APB1_TIM2 (1u << 0)
#define STM32_APB1_TIM5 (1u << 3)
#define STM32_APB1_USART2 (1u << 17)
#define STM32_APB1_USART3 (1u << 18)
#define STM32_APB1_PWR (1u << 28)

/*
 * Makes the core run at 168 MHz, APB1 at 42 and APB2 at 84, with five wait states, prefetch and
 * both caches of the flash: from the crystal of `crystal_mhz` if it oscillates, otherwise (and for
 * 0) from the internal RC oscillator of 16 MHz. Returns false if there is no clock control: on an
 * emulator, whose clocks are fixed.
 */
bool stm32_clock_168mhz(unsigned crystal_mhz);
/* Enables devices, by the bits above. */
void stm32_enable(uint32_t ahb1, uint32_t apb1);

/* Connects a pin of the port (base: its registers) to its alternate function. */
void stm32_pin_alternate(uintptr_t port, unsigned pin, unsigned function);

/* divisor: the clock of its bus / baud rate. */
void stm32_usart_init(uintptr_t base, uint32_t divisor);
bool stm32_usart_ready(uintptr_t base);
/* Waits while the transmit buffer is full. */
void stm32_usart_putc(uintptr_t base, char c);

/* Makes a 32-bit timer (TIM2, TIM5) count up through all 32 bits forever, one count every
 * `divisor` clocks, without interrupts. */
void stm32_timer_free_run(uintptr_t base, unsigned divisor);
/* Raises its interrupt once, after this many counts; 0 disables it. */
void stm32_timer_once(uintptr_t base, unsigned divisor, uint32_t counts);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clocks and pins of the STM32F405 and F407. Called at boot, with interrupts masked. Every boot of
 * stm32f4 in QEMU tests that this code doesn't wait for missing devices; the correctness of the
 * chip's set-up has only been checked against RM0090.
 */
#include "boards/board.h"
#include "boards/drivers/stm32.h"

#define RCC 0x40023800u
#define RCC_CR (RCC + 0x00)
#define RCC_PLLCFGR (RCC + 0x04)
#define RCC_CFGR (RCC + 0x08)
#define RCC_AHB1ENR (RCC + 0x30)
#define RCC_APB1ENR (RCC + 0x40)
#define CR_HSIRDY (1u << 1)
#define CR_HSEON (1u << 16)
#define CR_HSERDY (1u << 17)
#define CR_PLLON (1u << 24)
#define CR_PLLRDY (1u << 25)
#define PLLCFGR_N(n) ((n) << 6)
#define PLLCFGR_HSE (1u << 22)
#define PLLCFGR_Q(q) ((q) << 24)
#define CFGR_SW_PLL 2u
#define CFGR_SWS (3u << 2)
#define CFGR_SWS_PLL (2u << 2)
#define CFGR_APB1_4 (5u << 10)
#define CFGR_APB2_2 (4u << 13)

#define PWR_CR 0x40007000u
#define PWR_CR_VOS (1u << 14) /* scale 1, which 168 MHz needs */

#define FLASH_ACR 0x40023c00u
#define ACR_5_WAIT_STATES 5u
#define ACR_LATENCY 7u
#define ACR_PREFETCH_AND_CACHES (7u << 8)

#define HSI_MHZ 16u
#define PLL_N 336u /* times 1 MHz; divided by 2: 168 MHz; by 7: 48 MHz for USB */

/* The crystal starts within some ms; a poll takes at least 4 clocks of 16 MHz. */
#define POLLS 100000u

static bool clock_wait(uintptr_t address, uint32_t mask, uint32_t value)
{
    for (unsigned i = 0; i < POLLS; i++) {
        if ((mmio_read(address) & mask) == value) {
            return true;
        }
    }
    return false;
}

/* Starts the PLL and makes it the system's clock. */
static void pll_start(uint32_t source, unsigned mhz)
{
    mmio_write(RCC_PLLCFGR, mhz | PLLCFGR_N(PLL_N) | source | PLLCFGR_Q(7u));
    mmio_write(RCC_CR, mmio_read(RCC_CR) | CR_PLLON);
    if (clock_wait(RCC_CR, CR_PLLRDY, CR_PLLRDY) &&
        clock_wait(FLASH_ACR, ACR_LATENCY, ACR_5_WAIT_STATES)) {
        mmio_write(RCC_CFGR, CFGR_APB1_4 | CFGR_APB2_2 | CFGR_SW_PLL);
        clock_wait(RCC_CFGR, CFGR_SWS, CFGR_SWS_PLL);
    }
}

bool stm32_clock_168mhz(unsigned crystal_mhz)
{
    bool crystal = false;

    /* After a reset the internal oscillator runs. */
    if ((mmio_read(RCC_CR) & CR_HSIRDY) == 0) {
        return false;
    }
    stm32_enable(0, STM32_APB1_PWR);
    mmio_write(PWR_CR, mmio_read(PWR_CR) | PWR_CR_VOS);
    mmio_write(FLASH_ACR, ACR_5_WAIT_STATES | ACR_PREFETCH_AND_CACHES);
    if (crystal_mhz) {
        mmio_write(RCC_CR, mmio_read(RCC_CR) | CR_HSEON);
        crystal = clock_wait(RCC_CR, CR_HSERDY, CR_HSERDY);
    }
    pll_start(crystal ? PLLCFGR_HSE : 0, crystal ? crystal_mhz : HSI_MHZ);
    return true;
}

void stm32_enable(uint32_t ahb1, uint32_t apb1)
{
    mmio_write(RCC_AHB1ENR, mmio_read(RCC_AHB1ENR) | ahb1);
    mmio_write(RCC_APB1ENR, mmio_read(RCC_APB1ENR) | apb1);
    mmio_read(RCC_APB1ENR); /* a device may be accessed two clocks later (errata 2.2.13) */
}

#define GPIO_MODER 0x00
#define GPIO_PUPDR 0x0c
#define GPIO_AFR(pin) (0x20 + (pin) / 8 * 4)
#define MODE_ALTERNATE 2u
#define PULL_UP 1u

static void pin_field(uintptr_t address, unsigned shift, uint32_t mask, uint32_t value)
{
    mmio_write(address, (mmio_read(address) & ~(mask << shift)) | value << shift);
}

/* Enables a pull-up: an input that is not driven stays idle. */
void stm32_pin_alternate(uintptr_t port, unsigned pin, unsigned function)
{
    pin_field(port + GPIO_AFR(pin), pin % 8 * 4, 0xf, function);
    pin_field(port + GPIO_PUPDR, pin * 2, 3, PULL_UP);
    pin_field(port + GPIO_MODER, pin * 2, 3, MODE_ALTERNATE);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* System control registers of ARMv7-M (Arm DDI 0403, B3). Privileged code only. */
#ifndef ARMV7M_SCB_H
#define ARMV7M_SCB_H

#include <stdint.h>

#define SCB(address) (*(volatile uint32_t *)(address))

#define ACTLR SCB(0xe000e008)
#define ACTLR_DISDEFWBUF (1u << 1) /* no write buffer: bus errors are precise */

#define SYST_CSR SCB(0xe000e010)
#define SYST_RVR SCB(0xe000e014)
#define SYST_CVR SCB(0xe000e018)
#define SYST_CSR_RUN 7u /* enabled, interrupt, processor clock */
#define SYST_MAX 0xffffffu

#define NVIC_ISER(n) SCB(0xe000e100 + 4 * (n))
#define NVIC_ICER(n) SCB(0xe000e180 + 4 * (n))
#define NVIC_ISPR(n) SCB(0xe000e200 + 4 * (n))
#define NVIC_ICPR(n) SCB(0xe000e280 + 4 * (n))
#define NVIC_IABR(n) SCB(0xe000e300 + 4 * (n))
#define NVIC_IPR(n) SCB(0xe000e400 + 4 * (n))

#define CPUID SCB(0xe000ed00)
#define ICSR SCB(0xe000ed04)
#define ICSR_PENDSVSET (1u << 28)
#define ICSR_PENDSVCLR (1u << 27)
#define ICSR_PENDSTSET (1u << 26)
#define ICSR_RETTOBASE (1u << 11) /* no other exception is active */
#define VTOR SCB(0xe000ed08)
#define AIRCR SCB(0xe000ed0c)
#define AIRCR_KEY 0x05fa0000u
#define AIRCR_SYSRESETREQ (1u << 2)
#define CCR SCB(0xe000ed14)
#define CCR_DIV_0_TRP (1u << 4)
#define CCR_STKALIGN (1u << 9)
#define SHPR1 SCB(0xe000ed18) /* memory, bus, usage fault */
#define SHPR2 SCB(0xe000ed1c) /* SVC in the top byte */
#define SHPR3 SCB(0xe000ed20) /* PendSV, SysTick in the top two */

#define SHCSR SCB(0xe000ed24)
#define SHCSR_SYSTICKACT (1u << 11)
#define SHCSR_USGFAULTPENDED (1u << 12)
#define SHCSR_MEMFAULTPENDED (1u << 13)
#define SHCSR_BUSFAULTPENDED (1u << 14)
#define SHCSR_SVCALLPENDED (1u << 15)
#define SHCSR_FAULTS_ENABLED (7u << 16)

#define CFSR SCB(0xe000ed28)
#define CFSR_IACCVIOL (1u << 0)
#define CFSR_DACCVIOL (1u << 1)
#define CFSR_MUNSTKERR (1u << 3)
#define CFSR_MSTKERR (1u << 4)
#define CFSR_MLSPERR (1u << 5)
#define CFSR_MMARVALID (1u << 7)
#define CFSR_IBUSERR (1u << 8)
#define CFSR_PRECISERR (1u << 9)
#define CFSR_IMPRECISERR (1u << 10)
#define CFSR_UNSTKERR (1u << 11)
#define CFSR_STKERR (1u << 12)
#define CFSR_LSPERR (1u << 13)
#define CFSR_BFARVALID (1u << 15)
#define CFSR_UNDEFINSTR (1u << 16)
#define CFSR_INVSTATE (1u << 17)
#define CFSR_INVPC (1u << 18)
#define CFSR_NOCP (1u << 19)
#define CFSR_UNALIGNED (1u << 24)
#define CFSR_DIVBYZERO (1u << 25)
#define HFSR SCB(0xe000ed2c)
#define HFSR_FORCED (1u << 30)
#define HFSR_DEBUGEVT (1u << 31)
#define MMFAR SCB(0xe000ed34)
#define BFAR SCB(0xe000ed38)
#define CPACR SCB(0xe000ed88)
#define CPACR_FP (0xfu << 20) /* coprocessors 10 and 11: full access */

#define MPU_TYPE SCB(0xe000ed90)
#define MPU_CTRL SCB(0xe000ed94)
#define MPU_CTRL_ON 5u /* enabled, default map for privileged code */

#define FPCCR SCB(0xe000ef34)
#define FPCCR_LSPACT (1u << 0)
#define FPCCR_LAZY (3u << 30) /* automatic and lazy state preservation */
#define FPCAR SCB(0xe000ef38) /* the address at which it will be stored */

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reset, and semihosting: the vector table, .data and .bss, main(); the capture is the file
 * alone.kev in the emulator's folder.
 */
#include <stdint.h>

#include "test/trace/alone/alone.h"

enum { SYS_OPEN = 1, SYS_WRITE = 5, SYS_EXIT_EXTENDED = 0x20, EXITED = 0x20026, BINARY_WRITE = 5 };

extern uint32_t alone_data_from[], alone_data[], alone_data_end[], alone_bss[], alone_bss_end[];
extern uint32_t alone_stack_end[];
int main(void);

static long semihost(uintptr_t operation, const void *arguments)
{
    register uintptr_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = arguments;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return (long)r0;
}

static void alone_exit(int code)
{
    semihost(SYS_EXIT_EXTENDED, (uintptr_t[]){EXITED, (uintptr_t)code});
    for (;;) {
    }
}

void alone_write(const void *from, size_t bytes)
{
    static const char name[] = "alone.kev";
    static long file;

    if (file == 0) {
        file = semihost(SYS_OPEN, (uintptr_t[]){(uintptr_t)name, BINARY_WRITE, sizeof(name) - 1});
    }
    if (file <= 0 || semihost(SYS_WRITE, (uintptr_t[]){(uintptr_t)file, (uintptr_t)from, bytes})) {
        alone_exit(2);
    }
}

static void start(void)
{
    for (uint32_t *to = alone_data, *from = alone_data_from; to < alone_data_end;) {
        *(volatile uint32_t *)to++ = *from++;
    }
    for (uint32_t *to = alone_bss; to < alone_bss_end;) {
        *(volatile uint32_t *)to++ = 0;
    }
    alone_exit(main());
}

static void fault(void)
{
    alone_exit(3);
}

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[] = {
    (uintptr_t)alone_stack_end,
    (uintptr_t)start,
    (uintptr_t)fault,
    (uintptr_t)fault,
};

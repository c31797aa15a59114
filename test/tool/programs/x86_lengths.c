/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For x86_lengths.py: what isa/x86_64/step.h reads at each offset of standard input. Prints a line
 * per byte: length and kind, then `near`.
 */
#include <stdio.h>
#include <stdlib.h>

#include "isa/x86_64/step.h"

int main(void)
{
    size_t room = 1 << 20, n = 0, got;
    uint8_t *bytes = malloc(room);

    while (bytes && (got = fread(bytes + n, 1, room - n, stdin)) > 0) {
        n += got;
        if (n == room) {
            room *= 2;
            uint8_t *more = realloc(bytes, room);
            if (!more) {
                free(bytes);
                return 1;
            }
            bytes = more;
        }
    }
    for (size_t at = 0; bytes && at < n; at++) {
        const struct x86_step s = x86_step_read(bytes + at, n - at);
        printf("%u %u %u\n", s.length, s.kind, s.near);
    }
    free(bytes);
    return bytes ? 0 : 1;
}

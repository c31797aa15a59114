/* SPDX-License-Identifier: BSD-2-Clause */
/* See reason.h. */
#include "host/link/reason.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "abi/errno.h"

static const struct {
    int target, host;
} numbers[] = {
#define E(name, value) {value, name},
    KYMO_ERRNO_LIST(E)
#undef E
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

const char *reason_text(int reason)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        if (numbers[i].target == -reason) {
            return strerror(numbers[i].host);
        }
    }
    return "an error number that the host does not know";
}

int reason_to_target(int error)
{
    if (error == 0) {
        return 0;
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        if (numbers[i].host == error) {
            return numbers[i].target;
        }
    }
    return EIO;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* See long_message.h. */
#include "test/kernel/ipc/long_message.h"

#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"

struct thread *server, *server2, *client, *client2;
unsigned windows, act_at;
static void (*act)(void);

/* Between two pieces another CPU has its chance. */
static void window(void)
{
    unsigned self = fake_cpu;
    if (windows++ == act_at && act) {
        act();
    }
    fake_cpu = self;
}

void at_window(unsigned n, void (*what)(void))
{
    windows = 0;
    act_at = n;
    act = what;
}

int setup(void **state)
{
    (void)state;
    server = world_process(ABILITY_KILL, 20, DATA);
    server2 = world_thread(server, 20);
    client = world_process(0, 10, DATA);
    client2 = world_thread(client, 10);
    CALL(server, CHANNEL_CREATE, 0);
    CALL(client, CONNECT_ATTACH, 0, (uintptr_t)server->proc->pid, 1, 0, 0);
    fake_lock_window = window;
    fake_lock_wanted = true;
    at_window(0, NULL);
    return 0;
}

int teardown(void **state)
{
    (void)state;
    fake_lock_window = NULL;
    fake_lock_wanted = false;
    world_end();
    return 0;
}

void fill(const struct thread *t, uintptr_t addr, size_t bytes, unsigned seed)
{
    uint8_t *p = world_at(t, addr);
    for (size_t i = 0; i < bytes; i++) {
        p[i] = (uint8_t)(seed + i * 7 + (i >> 8));
    }
}

long receive(struct thread *t, uintptr_t bytes)
{
    return CALL(t, MSG_RECEIVEV, 1, AT(0x10), LEN(bytes), AT(1));
}

long send_long(struct thread *t, uintptr_t sbytes, uintptr_t rbytes)
{
    return CALL(t, MSG_SENDV, 0, AT(0x10), LEN(sbytes), AT(0x20), LEN(rbytes));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts of a real device served by a program: attach, wait, pulse, mask and unmask, detach.
 * The device is one that the kernel leaves alone: TEST_DEVICE of board.mk.
 */
#include "test/board/programs/check.h"
#include TEST_DEVICE_H

#define DEVICE_BYTES 4096

static volatile uint32_t *regs;

static bool map_device(void)
{
    struct kymo_map map = {.phys = DEVICE,
                           .len = DEVICE_BYTES,
                           .flags = KYMO_MAP_DEVICE | KYMO_PROT_READ | KYMO_PROT_WRITE};

    if (regs == NULL) {
        EXPECT_EQ(MemMap(&map), 0);
        regs = (volatile uint32_t *)(uintptr_t)map.vaddr;
    }
    return regs != NULL;
}

static void t_wait(void)
{
    struct sigevent event;
    int id;

    if (!map_device()) {
        return;
    }
    SIGEV_INTR_INIT(&event);
    id = InterruptAttachEvent(DEVICE_IRQ, &event, 0);
    EXPECT(id >= 0);
    for (int i = 0; i < 3; i++) {
        device_fire(regs);
        EXPECT_EQ(InterruptWait(0, NULL), 0);
        device_quiet(regs);
        EXPECT_EQ(InterruptUnmask(DEVICE_IRQ, id), 0);
    }
    EXPECT_EQ(InterruptDetach(id), 0);
    EXPECT_ERR(InterruptDetach(id), EINVAL);
}

static void t_pulse(void)
{
    struct link to = make_link(0);
    struct sigevent event = {0};
    struct _pulse pulse;
    uint64_t ns = 3000 * MS;
    int id;

    if (!map_device()) {
        return;
    }
    SIGEV_PULSE_INIT(&event, to.coid, 20, 7, 77);
    id = InterruptAttachEvent(DEVICE_IRQ, &event, _NTO_INTR_FLAGS_TRK_MSK);
    EXPECT(id >= 0);
    device_fire(regs);
    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_RECEIVE, NULL, &ns, NULL);
    EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
    EXPECT_EQ(pulse.code, 7);
    EXPECT_EQ(pulse.value.sival_int, 77);
    device_quiet(regs);
    EXPECT_EQ(InterruptUnmask(DEVICE_IRQ, id), 0);
    EXPECT_EQ(InterruptDetach(id), 0);
    drop_link(&to);
}

static void t_masked(void)
{
    struct sigevent event;
    uint64_t ns = 1500 * MS;
    int id;

    if (!map_device()) {
        return;
    }
    SIGEV_INTR_INIT(&event);
    id = InterruptAttachEvent(DEVICE_IRQ, &event, 0);
    EXPECT_EQ(InterruptMask(DEVICE_IRQ, id), 1);
    EXPECT_EQ(InterruptMask(DEVICE_IRQ, id), 2); /* counts */
    device_fire(regs);
    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_INTR, NULL, &ns, NULL);
    EXPECT_ERR(InterruptWait(0, NULL), ETIMEDOUT);
    EXPECT_EQ(InterruptUnmask(DEVICE_IRQ, id), 1);
    EXPECT_EQ(InterruptUnmask(DEVICE_IRQ, id), 0);
    EXPECT_EQ(InterruptWait(0, NULL), 0); /* it was kept by the device */
    device_quiet(regs);
    EXPECT_EQ(InterruptDetach(id), 0);
}

static void t_errors(void)
{
    struct sigevent event;

    SIGEV_INTR_INIT(&event);
    EXPECT_ERR(InterruptAttachEvent(99999, &event, 0), EINVAL);
    EXPECT_ERR(InterruptAttachEvent(-5, &event, 0), EINVAL);
    EXPECT_ERR(InterruptAttachEvent((int)_NTO_HOOK_IDLE, &event, 0), ENOTSUP);
    event.sigev_notify = SIGEV_UNBLOCK;
    EXPECT_ERR(InterruptAttachEvent(DEVICE_IRQ, &event, 0), EINVAL);
    EXPECT_ERR(InterruptMask(99999, -1), EINVAL);
    EXPECT_ERR(InterruptDetach(-1), EINVAL);
}

static const struct check table[] = {
    {"InterruptWait", t_wait},
    {"pulse", t_pulse},
    {"mask counts", t_masked},
    {"errors", t_errors},
};

int main(void)
{
    return check_run("intr", table, COUNT(table));
}

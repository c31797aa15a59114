/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sensor: a timer sends a hundred pulses per second; for each, the sensor takes a "reading" and
 * sends it to the filter. Argument: number of readings, default 250.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/dispatch.h>
#include <sys/trace.h>

#include "apps/demo/demo.h"
#include "abi/sys/neutrino.h"

#define PULSE_TICK 1
#define PERIOD (UINT64_C(1000000000) / SENSOR_HZ)

/* Returns a triangle wave with noise that is the same in every run. */
static int32_t sensor_measure_value(uint32_t n)
{
    uint32_t phase = n % 64;
    uint32_t ramp = phase < 32 ? phase : 64 - phase;

    return (int32_t)(ramp * 100 + demo_work(200 + n % 7) % 50);
}

static int start_timer(int chid)
{
    struct _itimer every = {PERIOD / demo_times, PERIOD / demo_times};
    struct sigevent event;
    int coid = ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0);

    SIGEV_PULSE_INIT(&event, coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_TICK, 0);
    int timer = TimerCreate(CLOCK_MONOTONIC, &event);
    return coid < 0 || timer < 0 ? -1 : TimerSettime(timer, 0, &every, NULL);
}

int main(int argc, char **argv)
{
    argc = demo_arguments(argc, argv);
    uint32_t readings = argc > 1 ? (uint32_t)atoi(argv[1]) : 250;
    int chid = ChannelCreate(0);
    int filter = name_open(FILTER_NAME, 0);
    struct _pulse pulse;

    if (chid < 0 || filter < 0 || start_timer(chid) != 0) {
        perror("sensor");
        return 1;
    }
    for (uint32_t n = 0; n < readings; n++) {
        struct filter_msg msg = {FILTER_READING, 0, 0};

        if (MsgReceivePulse(chid, &pulse, sizeof(pulse), NULL) < 0) {
            perror("sensor: pulse");
            return 1;
        }
        msg.value = sensor_measure_value(n);
        trace_logi(EVENT_READING, n, (unsigned)msg.value);
        if (MsgSend(filter, &msg, sizeof(msg), NULL, 0) < 0) {
            perror("sensor: filter");
            return 1;
        }
    }
    printf("sensor: %u readings\n", (unsigned)readings);
    return 0;
}

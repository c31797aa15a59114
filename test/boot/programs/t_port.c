/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POSIX timers, posix_spawn() and waitpid(), a device's registers, short waits: the rest of what a
 * port meets. The device is one that no driver of the image uses. Needs the abilities spawn,
 * device.
 */
#include "test/boot/programs/check.h"

#include <hw/inout.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/include/kymo.h"

/* ---- timers ---------------------------------------------------------------------------------- */

static struct link to;

static timer_t make_timer(int code)
{
    struct sigevent event;
    timer_t timer = 0;

    SIGEV_PULSE_INIT(&event, to.coid, SIGEV_PULSE_PRIO_INHERIT, code, code * 3);
    EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    return timer;
}

static void expect_pulse(int code)
{
    struct _pulse pulse = {0};

    EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
    EXPECT(pulse.code == code && pulse.value.sival_int == code * 3);
}

static void t_timer(void)
{
    struct itimerspec set = {{0, 0}, {0, 3 * MS}}, old = {{9, 9}, {9, 9}}, now;
    uint64_t began = now_ns();

    to = make_link(0);
    timer_t one = make_timer(1), two = make_timer(2);
    EXPECT_EQ(timer_settime(one, 0, &set, &old), 0);
    EXPECT(old.it_value.tv_sec == 0 && old.it_value.tv_nsec == 0);
    expect_pulse(1);
    EXPECT(now_ns() - began >= 3 * MS);
    EXPECT_EQ(timer_gettime(one, &now), 0);
    EXPECT(now.it_value.tv_sec == 0 && now.it_value.tv_nsec == 0);
    /* Until a time of the clock, then each 2 ms. */
    clock_gettime(CLOCK_MONOTONIC, &set.it_value);
    set.it_value.tv_sec += 1000;
    set.it_interval.tv_nsec = 2 * MS;
    EXPECT_EQ(timer_settime(two, (int)TIMER_ABSTIME, &set, NULL), 0);
    EXPECT_EQ(timer_gettime(two, &now), 0);
    EXPECT(now.it_value.tv_sec >= 990 && now.it_interval.tv_nsec == 2 * MS);
    clock_gettime(CLOCK_MONOTONIC, &set.it_value);
    EXPECT_EQ(timer_settime(two, (int)TIMER_ABSTIME, &set, &old), 0);
    EXPECT(old.it_value.tv_sec >= 990 && old.it_interval.tv_nsec == 2 * MS);
    expect_pulse(2);
    expect_pulse(2);
    sleep_ms(20); /* nobody receives: those that find a pulse queued are overruns */
    EXPECT(timer_getoverrun(two) >= 5);
    EXPECT_EQ(timer_delete(two), 0);
    EXPECT_ERR(timer_delete(two), EINVAL);
    EXPECT_ERR(timer_settime(two, 0, &set, NULL), EINVAL);
    EXPECT_ERR(timer_gettime(two, &now), EINVAL);
    EXPECT_ERR(timer_getoverrun(two), EINVAL);
    set.it_value.tv_nsec = 1000000000;
    EXPECT_ERR(timer_settime(one, 0, &set, NULL), EINVAL);
    EXPECT_ERR(timer_create(77, NULL, &two), EINVAL);
    EXPECT_EQ(timer_delete(one), 0);
    drop_link(&to);
}

/* ---- programs -------------------------------------------------------------------------------- */

static void t_spawn(void)
{
    char *argv[] = {"t_port", "child", "7", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    struct sched_param param = {8};
    pid_t pid = 0;
    int status = 0;
    short flags = 0;

    errno = 0;
    EXPECT_EQ(posix_spawn_file_actions_init(&actions), 0);
    EXPECT_EQ(posix_spawn(&pid, "/proc/boot/t_port", &actions, NULL, argv, NULL), 0);
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    EXPECT_EQ(posix_spawn(&pid, "no_such_program", NULL, NULL, argv, NULL), ENOENT);
    EXPECT_EQ(errno, 0);

    /* A child of another priority, without the ability to spawn. */
    argv[2] = "self";
    EXPECT_EQ(posix_spawnattr_init(&attr), 0);
    EXPECT_EQ(posix_spawnattr_setflags(&attr, 0x4000), EINVAL);
    EXPECT_EQ(posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSCHEDPARAM), 0);
    EXPECT_EQ(posix_spawnattr_getflags(&attr, &flags), 0);
    EXPECT_EQ(flags, POSIX_SPAWN_SETSCHEDPARAM);
    EXPECT_EQ(posix_spawnattr_setschedparam(&attr, &param), 0);
    EXPECT_EQ(posix_spawnattr_setability_np(&attr, ABILITY_DEVICE), 0);
    EXPECT_EQ(posix_spawnp(NULL, "t_port", NULL, &attr, argv, NULL), 0);
    EXPECT(wait(&status) > 0);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 8);
    EXPECT_EQ(posix_spawnattr_setability_np(&attr, ABILITY_RESET), 0);
    EXPECT_EQ(posix_spawn(NULL, "t_port", NULL, &attr, argv, NULL), EPERM);

    argv[2] = "sleep";
    EXPECT_EQ(posix_spawn(&pid, "t_port", NULL, NULL, argv, NULL), 0);
    EXPECT_EQ(waitpid(-1, &status, WNOHANG), 0);
    EXPECT_EQ(kill(pid, SIGTERM), 0);
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    EXPECT_ERR(waitpid(-1, NULL, 0), ECHILD);
    EXPECT_ERR(waitpid(-2, NULL, 0), EINVAL);
    EXPECT_ERR(waitpid(-1, NULL, 0x40), EINVAL);
}

/* What a child does; its exit status. */
static int child(const char *what)
{
    if (strcmp(what, "sleep") == 0) {
        sleep_ms(100000);
    }
    if (strcmp(what, "self") == 0) {
        return kymo_abilities() == ABILITY_DEVICE ? own_priority() : 1;
    }
    return *what - '0';
}

/* ---- a device's registers -------------------------------------------------------------------- */

#define WITH_MMU (sizeof(void *) == 8)
#define DEVICE (WITH_MMU ? 0x09030000u : 0x40002000u) /* PL061 GPIO; CMSDK's dual timer */
#define ID_REGISTER 0xfe0u
#define ID_IS (WITH_MMU ? 0x61u : 0x23u)
#define PLAIN_REGISTER \
    (WITH_MMU ? 0x400u : 0x18u) /* direction; the load of the timer's next round */

static void t_device(void)
{
    uintptr_t io = mmap_device_io(0x1000, DEVICE);

    EXPECT(io != MAP_DEVICE_FAILED);
    EXPECT_EQ(in32(io + ID_REGISTER) & 0xff, ID_IS);
    out32(io + PLAIN_REGISTER, 0x5a);
    EXPECT_EQ(in32(io + PLAIN_REGISTER), 0x5a);
    if (WITH_MMU) {
        EXPECT_EQ(in8(io + ID_REGISTER), ID_IS);
        EXPECT_EQ(in16(io + ID_REGISTER), ID_IS);
        out8(io + PLAIN_REGISTER, 0xa5);
        EXPECT_EQ(in32(io + PLAIN_REGISTER), 0xa5);
        out16(io + PLAIN_REGISTER, 0);
        EXPECT_EQ(in32(io + PLAIN_REGISTER), 0);
    }
    EXPECT_EQ(munmap_device_io(io, 0x1000), 0);
    EXPECT_ERR(munmap_device_io(io, 0x1000), EINVAL);
    EXPECT_ERR(munmap_device_io(io, 0), EINVAL);
}

/* Many times over, so that a mapping that stayed would show; then what is refused. */
static void t_device_again(void)
{
    const int prot = PROT_READ | PROT_WRITE | PROT_NOCACHE;
    const uint64_t ram = WITH_MMU ? 0x40000000u : 0x20000000u;

    for (int i = 0; i < 100; i++) {
        unsigned offset = WITH_MMU ? ID_REGISTER : 0; /* not a page's beginning */
        volatile uint32_t *at = mmap_device_memory(NULL, 0x20, prot, 0, DEVICE + ID_REGISTER);

        if (at == MAP_FAILED) {
            EXPECT(!WITH_MMU);
            break;
        }
        EXPECT_EQ(*at & 0xff, ID_IS);
        EXPECT_EQ((uintptr_t)at % 0x1000, offset ? offset : (uintptr_t)at % 0x1000);
        EXPECT_EQ(munmap_device_memory((void *)at, 0x20), 0);
    }
    EXPECT_ERR((long)mmap_device_memory(NULL, 0, prot, 0, DEVICE), EINVAL);
    EXPECT_ERR((long)mmap_device_memory(NULL, 16, PROT_EXEC, 0, DEVICE), EINVAL);
    EXPECT_ERR((long)mmap_device_memory(NULL, 16, prot, MAP_FIXED, DEVICE), ENOTSUP);
    EXPECT_ERR((long)mmap_device_memory(NULL, 4096, prot, 0, ram), EPERM);
    EXPECT_ERR((long)mmap_device_memory(NULL, 4096, prot, 0, (uint64_t)0 - 4096), EPERM);
}

/* ---- short waits ----------------------------------------------------------------------------- */

static void t_waits(void)
{
    struct timespec bad = {0, -1};
    uint64_t began = now_ns();

    EXPECT_EQ(nanospin_calibrate(0), 0);
    EXPECT_EQ(nanospin_ns(300000), 0);
    EXPECT(now_ns() - began >= 300000);
    began = now_ns();
    EXPECT_EQ(nanospin(&(struct timespec){0, 400000}), 0);
    EXPECT(now_ns() - began >= 400000);
    EXPECT_EQ(nanospin(&bad), EINVAL);
    uint64_t cycles = ClockCycles();
    unsigned long count = nanospin_ns_to_count(100000);
    EXPECT(count > 0);
    nanospin_count(count);
    EXPECT(ClockCycles() - cycles >= count);
    EXPECT_EQ(nanospin_ns_to_count(0), 0);
    began = now_ns();
    EXPECT_EQ(delay(3), 0);
    EXPECT(now_ns() - began >= 3 * MS);
}

static const struct check table[] = {
    {"timer", t_timer},       {"spawn", t_spawn},
    {"device", t_device},     {"device, again and again", t_device_again},
    {"short waits", t_waits},
};

int main(int argc, char **argv)
{
    if (argc == 3) {
        return child(argv[2]);
    }
    return check_run("port", table, COUNT(table));
}

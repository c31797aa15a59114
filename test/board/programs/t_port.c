/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POSIX timers, posix_spawn() and waitpid(), a device's registers, short waits: the rest of what a
 * port meets. The device is one that no driver of the image uses. Needs the abilities spawn,
 * device.
 */
#include "test/board/programs/check.h"

#include <hw/inout.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/include/kymo.h"
#include "lib/include/sys/neutrino_r.h"
#include TEST_DEVICE_H

/* ---- timers ------------------------------------------------------------------------ */

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
    EXPECT(now.it_value.tv_sec > 0 && now.it_interval.tv_nsec == 2 * MS);
    clock_gettime(CLOCK_MONOTONIC, &set.it_value);
    EXPECT_EQ(timer_settime(two, (int)TIMER_ABSTIME, &set, &old), 0);
    EXPECT(old.it_value.tv_sec > 0 && old.it_interval.tv_nsec == 2 * MS);
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

/* ---- programs ---------------------------------------------------------------------- */

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

/* Its end is the proof: it writes where it may not. */
static void write_protected(void)
{
    volatile uint32_t *own =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);

    *own = 1;
    mprotect((void *)own, 4096, PROT_READ);
    *own = 2;
}

/* What a child does; its exit status. */
static int child(const char *what)
{
    if (strcmp(what, "sleep") == 0) {
        sleep_ms(100000);
    }
    if (strcmp(what, "write") == 0) {
        write_protected();
    }
    if (strcmp(what, "self") == 0) {
        return kymo_abilities() == ABILITY_DEVICE ? own_priority() : 1;
    }
    return *what - '0';
}

/* ---- a device's registers ---------------------------------------------------------- */

#define WITH_MMU (sizeof(void *) == 8)
static void t_device(void)
{
    uintptr_t io = mmap_device_io(0x1000, IO_DEVICE);

    EXPECT(io != MAP_DEVICE_FAILED);
    EXPECT_EQ(in32(io + IO_ID_REGISTER) & 0xff, IO_ID);
    out32(io + IO_PLAIN_REGISTER, 0x5a);
    EXPECT_EQ(in32(io + IO_PLAIN_REGISTER), 0x5a);
    if (IO_NARROW) {
        EXPECT_EQ(in8(io + IO_ID_REGISTER), IO_ID);
        EXPECT_EQ(in16(io + IO_ID_REGISTER), IO_ID);
        out8(io + IO_PLAIN_REGISTER, 0xa5);
        EXPECT_EQ(in32(io + IO_PLAIN_REGISTER), 0xa5);
        out16(io + IO_PLAIN_REGISTER, 0);
        EXPECT_EQ(in32(io + IO_PLAIN_REGISTER), 0);
    }
    EXPECT_EQ(munmap_device_io(io, 0x1000), 0);
    EXPECT_ERR(munmap_device_io(io, 0x1000), EINVAL);
    EXPECT_ERR(munmap_device_io(io, 0), EINVAL);
}

/* Many times over, so that a mapping that stayed would show; then what is refused. */
static void t_device_again(void)
{
    const int prot = PROT_READ | PROT_WRITE | PROT_NOCACHE;
    const uint64_t refused = NO_DEVICE;

    for (int i = 0; i < 100; i++) {
        unsigned offset = WITH_MMU ? IO_ID_REGISTER : 0; /* not a page's beginning */
        volatile uint32_t *at = mmap_device_memory(NULL, 0x20, prot, 0, IO_DEVICE + IO_ID_REGISTER);

        if (at == MAP_FAILED) {
            EXPECT(!WITH_MMU);
            break;
        }
        EXPECT_EQ(*at & 0xff, IO_ID);
        EXPECT_EQ((uintptr_t)at % 0x1000, offset ? offset : (uintptr_t)at % 0x1000);
        EXPECT_EQ(munmap_device_memory((void *)at, 0x20), 0);
    }
    EXPECT_ERR((long)mmap_device_memory(NULL, 0, prot, 0, IO_DEVICE), EINVAL);
    EXPECT_ERR((long)mmap_device_memory(NULL, 16, PROT_EXEC, 0, IO_DEVICE), EINVAL);
    EXPECT_ERR((long)mmap_device_memory(NULL, 16, prot, MAP_FIXED, IO_DEVICE), ENOTSUP);
    EXPECT_ERR((long)mmap_device_memory(NULL, 4096, prot, 0, refused), EPERM);
    EXPECT_ERR((long)mmap_device_memory(NULL, 4096, prot, 0, (uint64_t)0 - 4096), EPERM);
}

/* ---- rights of memory -------------------------------------------------------------- */

static volatile uint32_t *memory;
static volatile bool enough;

static void *reads_on(void *unused)
{
    while (!enough) {
        EXPECT_EQ(*memory, 0x1234);
        kymo_spin_hint();
    }
    return unused;
}

static void *receives(void *chid)
{
    return (void *)(intptr_t)-MsgReceive_r((int)(intptr_t)chid, (void *)memory, 64, NULL);
}

static void t_protect(void)
{
    const size_t bytes = 4096;
    char one[] = "x";
    void *result = NULL;

    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    EXPECT(memory != MAP_FAILED);
    void *at = (void *)memory;
    *memory = 0x1234;
    EXPECT_EQ(mprotect(at, bytes, PROT_READ), 0);
    EXPECT_EQ(*memory, 0x1234);
    EXPECT_ERR(ClockTime(CLOCK_MONOTONIC, NULL, at), EFAULT); /* nor does the kernel write there */
    EXPECT_EQ(mprotect(at, bytes, PROT_READ | PROT_WRITE), 0);
    EXPECT_EQ(ClockTime(CLOCK_MONOTONIC, NULL, at), 0);
    *memory = 0x1234;

    /* A thread that reads all the time on another CPU never finds the memory gone. */
    enough = false;
    int reader = start_thread(reads_on, NULL, 9);
    for (int i = 0; i < 300; i++) {
        EXPECT_EQ(mprotect(at, bytes, i % 2 ? PROT_READ | PROT_WRITE : PROT_READ), 0);
    }
    enough = true;
    join(reader);

    /* A message comes for a buffer that has become read-only meanwhile. */
    to = make_link(0);
    reader = start_thread(receives, (void *)(intptr_t)to.chid, 0);
    wait_state(self_pid(), reader, STATE_RECEIVE);
    EXPECT_EQ(mprotect(at, bytes, PROT_READ), 0);
    uint64_t ns = 5 * MS;
    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_SEND, NULL, &ns, NULL);
    EXPECT_ERR(MsgSend(to.coid, one, 2, NULL, 0), ETIMEDOUT);
    EXPECT_EQ(pthread_join(reader, &result), 0);
    EXPECT_EQ((intptr_t)result, EFAULT);
    EXPECT_EQ(*memory, 0x1234);
    drop_link(&to);
    EXPECT_EQ(munmap(at, bytes), 0);
}

static uint32_t in_data[2] = {1, 2};

static void t_protect_refuses(void)
{
    char *argv[] = {"t_port", "child", "write", NULL};
    char *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    uintptr_t io = mmap_device_io(0x1000, IO_DEVICE);
    struct kymo_proc_info info;
    int status = 0;
    pid_t pid = 0;

    EXPECT_ERR(mprotect(own, 4096, PROT_NONE), ENOTSUP);
    EXPECT_ERR(mprotect(own, 4096, PROT_WRITE | PROT_EXEC | PROT_READ), EINVAL);
    EXPECT_ERR(mprotect(own, 4096, 0x40), EINVAL);
    EXPECT_ERR(mprotect(own, 0, PROT_READ), EINVAL);
    EXPECT_ERR(mprotect(own, 8192, PROT_READ), EINVAL);
    EXPECT_ERR(mprotect(own + 1024, 1024, PROT_READ), EINVAL);
    EXPECT_ERR(mprotect((void *)(io & ~(uintptr_t)0xfff), 0x1000, PROT_READ), EACCES);
    EXPECT_ERR(mprotect(NULL, 4096, PROT_READ), EINVAL);
    EXPECT_ERR(mprotect(&in_data[1], 4, PROT_READ), EINVAL);
    EXPECT_EQ(mprotect(own, 4096, PROT_READ | PROT_EXEC), 0);
    EXPECT_EQ(munmap(own, 4096), 0);
    EXPECT_EQ(munmap_device_io(io, 0x1000), 0);
    EXPECT_EQ(posix_spawn(&pid, "t_port", NULL, NULL, argv, NULL), 0);
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    EXPECT_EQ(ProcInfo(self_pid(), &info), self_pid());
}

/* ---- short waits ------------------------------------------------------------------- */

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
    {"timer", t_timer},
    {"spawn", t_spawn},
    {"device", t_device},
    {"device, again and again", t_device_again},
    {"rights of memory", t_protect},
    {"rights of memory, refused", t_protect_refuses},
    {"short waits", t_waits},
};

int main(int argc, char **argv)
{
    if (argc == 3) {
        return child(argv[2]);
    }
    return check_run("port", table, COUNT(table));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory objects by their POSIX names, on a board: mapped, shared with a child, surviving it, wild
 * sizes, no room, and random operations of several processes after which the memory is what it was.
 * `t_object write NAME`, `t_object random SEED` are the children; `t_object leave NAME` and
 * `t_object share NAME` leave one behind, the first for its maker alone (suite memory).
 */
#include "test/board/programs/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHILDREN 3
#define STEPS 400
#define MAGIC 0x6b796d6fu

static uint32_t *map_all(int fd, int prot)
{
    void *at = mmap(NULL, 4, prot, MAP_SHARED, fd, 0);

    EXPECT(at != MAP_FAILED);
    return at;
}

/* The RAM that an object can have: found by halving. The same before and after: nothing leaks. */
static size_t room(void)
{
    int fd = shm_open("/room", O_RDWR | O_CREAT, 0600);
    size_t size = 0;

    EXPECT(fd >= 0);
    for (size_t step = 0x20000000; step >= 4096; step /= 2) {
        if (ftruncate(fd, (off_t)(size + step)) == 0) {
            size += step;
            EXPECT_EQ(ftruncate(fd, 0), 0);
        } else {
            EXPECT_EQ(errno, ENOMEM);
        }
    }
    EXPECT_EQ(shm_unlink("room"), 0);
    EXPECT_EQ(close(fd), 0);
    return size;
}

static int finish(int pid)
{
    int status = -1;

    EXPECT(pid > 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    return status;
}

static void t_one(void)
{
    int fd = shm_open("/one", O_RDWR | O_CREAT | O_EXCL, 0600), again;
    struct stat st;

    EXPECT(fd >= 0);
    EXPECT_ERR(shm_open("one", O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
    EXPECT(mmap(NULL, 4, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == ENXIO);
    EXPECT_EQ(ftruncate(fd, 10000), 0);
    EXPECT_EQ(fstat(fd, &st), 0);
    EXPECT_EQ(st.st_size, 10000);
    EXPECT(S_ISREG(st.st_mode));
    uint32_t *a = map_all(fd, PROT_READ | PROT_WRITE);
    for (unsigned i = 0; i < 2500; i++) {
        EXPECT_EQ(a[i], 0);
    }
    a[2499] = MAGIC;
    EXPECT(mmap(NULL, 4, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EBUSY);
    EXPECT_EQ(munmap(a, 10000), 0);
    again = shm_open("/dev/shmem/one", O_RDONLY, 0);
    EXPECT_EQ(close(fd), 0);
    EXPECT(mmap(NULL, 4, PROT_WRITE | PROT_READ, MAP_SHARED, again, 0) == MAP_FAILED);
    EXPECT_EQ(errno, EACCES);
    EXPECT_EQ(shm_unlink("/one"), 0);
    a = map_all(again, PROT_READ);
    EXPECT_EQ(close(again), 0);
    EXPECT_EQ(a[2499], MAGIC); /* without name and descriptor */
    EXPECT_EQ(munmap(a, 10000), 0);
    EXPECT_ERR(shm_open("/one", O_RDONLY, 0), ENOENT);
}

/* The kernel reads and writes there as in any memory: a message through it. */
static void t_kernel_uses_it(void)
{
    int fd = shm_open("/k", O_RDWR | O_CREAT, 0600);
    struct kymo_proc_info *info;

    EXPECT_EQ(ftruncate(fd, 256), 0);
    info = (void *)map_all(fd, PROT_READ | PROT_WRITE);
    EXPECT_EQ(ProcInfo(self_pid(), info), self_pid());
    EXPECT_EQ(info->pid, self_pid());
    munmap(info, 256);
    info = (void *)map_all(fd, PROT_READ);
    EXPECT_ERR(ProcInfo(self_pid(), info), EFAULT);
    EXPECT_EQ(info->pid, self_pid());
    munmap(info, 256);
    EXPECT_ERR(ProcInfo(self_pid(), info), EFAULT);
    shm_unlink("/k");
    close(fd);
}

/* Two processes: each sees what the other writes; the rest survives both. */
static void t_two(void)
{
    int fd = shm_open("/two", O_RDWR | O_CREAT, 0622 | 0044);
    struct kymo_object_info info;

    EXPECT_EQ(ftruncate(fd, 40000), 0);
    uint32_t *a = map_all(fd, PROT_READ | PROT_WRITE);
    a[0] = MAGIC;
    EXPECT_EQ(finish(spawn("t_object", 0, 0, "write", "/two", NULL)), 0);
    EXPECT_EQ(a[9999], MAGIC + 1);
    EXPECT_EQ(ObjectInfo(fd - 0x200, &info) >= 0, true);
    EXPECT_EQ(info.maps, 1); /* the child's is gone with it */
    EXPECT_EQ(info.opens, 1);
    EXPECT(info.memory >= 40000);
    munmap(a, 40000);
    close(fd);
    /* Reading only is: a write ends the writer by the fault. */
    EXPECT_EQ(finish(spawn("victim", 0, 0, "fault", "object", NULL)), KYMO_SIGSEGV);
    fd = shm_open("/two", O_RDONLY, 0);
    a = map_all(fd, PROT_READ);
    EXPECT_EQ(a[9999], MAGIC + 1);
    EXPECT_EQ(a[1], 0);
    munmap(a, 40000);
    close(fd);
    EXPECT_EQ(shm_unlink("/two"), 0);
}

/* A child makes one and dies; it is there until it is unlinked. */
static void t_survives(void)
{
    size_t before = room();

    EXPECT_EQ(finish(spawn("t_object", ABILITY_MEMORY, 0, "make", "/left", NULL)), 0);
    EXPECT(room() <= before);
    int fd = shm_open("/left", O_RDONLY, 0);
    uint32_t *a = map_all(fd, PROT_READ);
    EXPECT_EQ(a[77], MAGIC);
    EXPECT_EQ(shm_unlink("/left"), 0);
    munmap(a, 1);
    close(fd);
    EXPECT_EQ(room(), before);
    EXPECT_EQ(finish(spawn("t_object", 0, 0, "make", "/left", NULL)), 1 << 8); /* not able */
    EXPECT_ERR(shm_open("/left", O_RDONLY, 0), ENOENT);
}

static void t_no_room(void)
{
    static const char *const names[] = {"/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"};
    size_t before = room(), got = 0;
    int fds[COUNT(names)];

    for (unsigned i = 0; i < COUNT(names); i++) {
        fds[i] = shm_open(names[i], O_RDWR | O_CREAT, 0600);
        EXPECT(fds[i] >= 0);
        EXPECT_ERR(ftruncate(fds[i], -1), EINVAL);
        EXPECT_ERR(ftruncate(fds[i], 0x40000001), EINVAL);
        EXPECT_ERR(ftruncate(fds[i], 0x40000000), ENOMEM);
        got += ftruncate(fds[i], (off_t)(before / 4 * 3)) == 0;
    }
    EXPECT(got >= 1 && got < COUNT(names));
    EXPECT_ERR(shm_open("/i", O_RDWR | O_CREAT, 0600), EMFILE);
    close(fds[0]);
    EXPECT_ERR(shm_open("/i", O_RDWR | O_CREAT, 0600), EAGAIN);
    for (unsigned i = 0; i < COUNT(names); i++) {
        EXPECT_EQ(shm_unlink(names[i]), 0);
        if (i > 0) {
            close(fds[i]);
        }
    }
    EXPECT_EQ(room(), before);
}

/* ---- children ---------------------------------------------------------------------- */

static int child_write(const char *name)
{
    int fd = shm_open(name, O_RDWR, 0);
    uint32_t *a = fd < 0 ? MAP_FAILED : mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (a == MAP_FAILED || a[0] != MAGIC) {
        return 1;
    }
    a[9999] = MAGIC + 1;
    return 0;
}

static int child_leave(const char *name)
{
    int fd = shm_open(name, O_RDWR | O_CREAT, 0600);

    return fd < 0 || ftruncate(fd, 70000) != 0;
}

static int child_share(const char *name)
{
    int fd = shm_open(name, O_RDWR | O_CREAT, 0660);

    return fd < 0 || ftruncate(fd, 10000) != 0;
}

static int child_make(const char *name)
{
    int fd = shm_open(name, O_RDWR | O_CREAT, 0644);
    uint32_t *a;

    if (fd < 0 || ftruncate(fd, 3000) != 0) {
        return 1;
    }
    a = mmap(NULL, 3000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    a[77] = MAGIC;
    return 0;
}

static uint64_t state;
static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((state >> 32) * n >> 32);
}

/* Writes on the whole of what it maps: an object that shares memory with anything would show. */
static void random_map(int fd)
{
    struct stat st;
    int prot = below(2) ? PROT_READ : PROT_READ | PROT_WRITE;
    uint32_t *a = mmap(NULL, 1, prot, MAP_SHARED, fd, 0);

    if (a != MAP_FAILED && fstat(fd, &st) == 0) {
        if (prot & PROT_WRITE) {
            memset(a, (int)below(256), (size_t)st.st_size);
        }
        if (below(4) != 0) {
            munmap(a, 1);
        }
    }
}

static int child_random(unsigned seed)
{
    state = seed * 0x9e3779b97f4a7c15ull;
    for (unsigned n = 0; n < STEPS; n++) {
        char name[4] = {'/', 'r', (char)('0' + below(4)), 0};
        int fd = 0x200 + (int)below(4);

        switch (below(5)) {
        case 0:
            shm_open(name, (below(2) ? O_RDWR : O_RDONLY) | (below(2) ? O_CREAT : 0), 0666);
            break;
        case 1:
            close(fd);
            break;
        case 2:
            ftruncate(fd, (off_t)(below(3) ? below(50000) : 0));
            break;
        case 3:
            random_map(fd);
            break;
        default:
            shm_unlink(name);
            break;
        }
    }
    return 0;
}

static unsigned first_seed = 1;
static void t_random(void)
{
    size_t before = room();
    int pids[CHILDREN];

    for (unsigned i = 0; i < CHILDREN; i++) {
        char seed[12];

        snprintf(seed, sizeof(seed), "%u", first_seed + i);
        pids[i] = spawn("t_object", ABILITY_MEMORY, 0, "random", seed, NULL);
    }
    sleep_ms(3);
    SignalKill(0, pids[0], 0, KYMO_SIGKILL, 0, 0); /* somewhere, or too late */
    for (unsigned i = 0; i < CHILDREN; i++) {
        finish(pids[i]);
    }
    for (char digit = '0'; digit < '4'; digit++) {
        char name[4] = {'/', 'r', digit, 0};
        shm_unlink(name);
    }
    struct kymo_object_info info;
    EXPECT_ERR(ObjectInfo(KYMO_OBJECT_AT, &info), ENOENT);
    EXPECT_EQ(room(), before);
}

int main(int argc, char **argv)
{
    static const struct check table[] = {
        {"one", t_one},           {"the kernel uses it", t_kernel_uses_it},
        {"two processes", t_two}, {"survives its maker", t_survives},
        {"no room", t_no_room},   {"random", t_random},
    };
    static const struct {
        const char *name;
        int (*run)(const char *name);
    } children[] = {{"write", child_write},
                    {"make", child_make},
                    {"leave", child_leave},
                    {"share", child_share}};

    for (unsigned i = 0; argc == 3 && i < COUNT(children); i++) {
        if (strcmp(argv[1], children[i].name) == 0) {
            return children[i].run(argv[2]);
        }
    }
    if (argc == 3 && strcmp(argv[1], "random") == 0) {
        return child_random((unsigned)strtoul(argv[2], NULL, 10));
    }
    first_seed = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    return check_run("object", table, COUNT(table));
}

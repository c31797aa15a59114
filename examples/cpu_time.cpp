/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU time by thread: from each THRUNNING of a CPU to its next one. In C++17, to show that the
 * header is C++, too.
 *
 *   c++ -std=c++17 -o cpu_time cpu_time.cpp $(pkg-config --cflags --libs kev)
 *   ./cpu_time trace.kev
 *
 * A thread's time counts while its CPU is covered: what a CPU did while events are missing is not
 * known.
 */
#include <algorithm>
#include <cstdio>
#include <kev.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace
{

constexpr unsigned cpus_most = 64;

struct Thread {
    int32_t pid, tid;
    bool operator<(const Thread &other) const
    {
        return pid != other.pid ? pid < other.pid : tid < other.tid;
    }
};

struct Running {
    Thread thread{KEV_NOBODY, KEV_NOBODY};
    int64_t since = 0;
    unsigned stretch = 0; /* the first one that has not ended before `since` */
};

struct Account {
    const kev_capture *capture;
    std::map<Thread, int64_t> times;
    std::vector<Running> running = std::vector<Running>(cpus_most);

    /* The part of [since, now] over which the CPU is covered. */
    int64_t covered(unsigned cpu, int64_t now)
    {
        Running &on = running[cpu];
        int64_t from, to, sum = 0;

        if (kev_capture_facts(capture)->is_kymo == 0) {
            return now - on.since; /* nothing says what is missing */
        }
        while (kev_capture_covered(capture, cpu, on.stretch, &from, &to) != 0 && from < now) {
            sum += std::max<int64_t>(0, std::min(to, now) - std::max(from, on.since));
            if (to > now) {
                break;
            }
            on.stretch++;
        }
        return sum;
    }

    void turn(unsigned cpu, int64_t now, Thread next)
    {
        int64_t ran = covered(cpu, now);

        if (running[cpu].thread.pid != KEV_NOBODY && ran > 0) {
            times[running[cpu].thread] += ran;
        }
        running[cpu].thread = next;
        running[cpu].since = now;
    }
};

std::string name_of(const kev_capture *capture, Thread thread)
{
    const char *process = kev_capture_name(capture, thread.pid, KEV_NOBODY);
    const char *name = kev_capture_name(capture, thread.pid, thread.tid);

    return std::string(process != nullptr ? process : "?") + (name != nullptr ? "/" : "") +
           (name != nullptr ? name : "");
}

void show(const Account &account)
{
    std::vector<std::pair<int64_t, Thread>> order;

    for (const auto &[thread, time] : account.times) {
        order.emplace_back(-time, thread);
    }
    std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
        return a.first != b.first ? a.first < b.first : a.second < b.second;
    });
    for (const auto &[time, thread] : order) {
        std::printf("%14lld ns  %d.%d %s\n", static_cast<long long>(-time), thread.pid, thread.tid,
                    name_of(account.capture, thread).c_str());
    }
}

} // namespace

int main(int argc, char **argv)
{
    std::unique_ptr<kev_capture, decltype(&kev_capture_free)> capture(kev_capture_new(),
                                                                      kev_capture_free);
    const kev_item *item;
    int64_t last = 0;
    int outcome;

    if (capture == nullptr || argc != 2) {
        std::fprintf(stderr, "usage: cpu_time FILE\n");
        return 2;
    }
    Account account{capture.get(), {}};
    outcome = kev_capture_open(capture.get(), argv[1]);
    while (outcome >= KEV_COMPLETE &&
           (outcome = kev_capture_next(capture.get(), &item)) == KEV_GIVEN) {
        if (item->kind == KEV_ITEM_EVENT) {
            last = item->ns;
            if (item->name != nullptr && std::string("THRUNNING") == item->name) {
                account.turn(static_cast<unsigned>(item->cpu), item->ns, {item->pid, item->tid});
            }
        } else if (item->kind == KEV_ITEM_LOSS && item->cpu >= 0) {
            account.turn(static_cast<unsigned>(item->cpu), item->ns, {KEV_NOBODY, KEV_NOBODY});
        }
    }
    for (unsigned cpu = 0; cpu < cpus_most; cpu++) {
        account.turn(cpu, last, {KEV_NOBODY, KEV_NOBODY});
    }
    show(account);
    if (outcome != KEV_COMPLETE) {
        std::fprintf(stderr, "cpu_time: %s\n", kev_capture_fault(capture.get())->text);
    }
    return outcome == KEV_COMPLETE ? 0 : 1;
}

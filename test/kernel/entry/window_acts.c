/* SPDX-License-Identifier: BSD-2-Clause */
/* See window_acts.h. */
#include "test/kernel/entry/window_acts.h"

#include <string.h>

#include "kernel/base/cpu.h"

#define PARAM AT(4)
#define STUB 0x12340u

#define ENTER(t, name, ...) world_enter(t, KER_##name, (uintptr_t[6]){__VA_ARGS__})

static void nothing(void)
{
}
static void unmap_out(void)
{
    ENTER(mate, MEM_UNMAP, OUT, PLACE_BYTES);
}
static void unmap_in(void)
{
    ENTER(mate, MEM_UNMAP, IN, PLACE_BYTES);
}
static void unmap_iovs(void)
{
    ENTER(mate, MEM_UNMAP, IOVS, PLACE_BYTES);
}
static void unmap_other(void)
{
    ENTER(mate, MEM_UNMAP, RO, 4096);
}
static void unmap_partners_out(void)
{
    ENTER(partners_mate, MEM_UNMAP, OUT, PLACE_BYTES);
}
static void unmap_partners_in(void)
{
    ENTER(partners_mate, MEM_UNMAP, IN, PLACE_BYTES);
}

struct rights {
    uintptr_t at;
    unsigned prot;
};
static const struct rights out_has_none = {OUT, 0}, in_is_read = {IN, KYMO_PROT_READ};

static void protect(void *arg)
{
    const struct rights *r = *(const struct rights **)arg;

    vm_protect(mate->proc, vm_find(mate->proc, r->at, 0), r->prot);
}
static void protect_out(void)
{
    static const struct rights *arg = &out_has_none;
    world_do(mate->cpu, protect, &arg);
}
static void protect_in(void)
{
    static const struct rights *arg = &in_is_read;
    world_do(mate->cpu, protect, &arg);
}

static void seen(void *arg)
{
    (void)arg;
}
/* As trace_port_sites_sync(). */
static void sites_synced(void *arg)
{
    (void)arg;
    cpu_run_on_all(seen, NULL);
}
static void log_alone(void)
{
    fake_events_off = false;
    fake_log_only = true;
    world_do(other->cpu, sites_synced, NULL);
}
static void log_and_d(void)
{
    fake_events_off = fake_log_only = false;
    world_do(other->cpu, sites_synced, NULL);
}
static void events_off(void)
{
    fake_events_off = true;
    world_do(other->cpu, sites_synced, NULL);
}

static void ctl(struct thread *of, struct thread *t, unsigned what)
{
    ENTER(of, THREAD_CTL, what, (uintptr_t)t->tid);
}
static void hold_self(void)
{
    ctl(mate, self, _NTO_TCTL_ONE_THREAD_HOLD);
}
static void hold_self_shortly(void)
{
    ctl(mate, self, _NTO_TCTL_ONE_THREAD_HOLD);
    ctl(mate, self, _NTO_TCTL_ONE_THREAD_CONT);
}
static void hold_partner(void)
{
    ctl(partners_mate, partner, _NTO_TCTL_ONE_THREAD_HOLD);
}
static void hold_partner_shortly(void)
{
    ctl(partners_mate, partner, _NTO_TCTL_ONE_THREAD_HOLD);
    ctl(partners_mate, partner, _NTO_TCTL_ONE_THREAD_CONT);
}
static void end_self(void)
{
    ENTER(mate, THREAD_DESTROY, (uintptr_t)self->tid);
}
static void end_partner(void)
{
    ENTER(partners_mate, THREAD_DESTROY, (uintptr_t)partner->tid);
}
static void kill_own_process(void)
{
    ENTER(other, SIGNAL_KILL, 0, (uintptr_t)self->proc->pid, 0, KYMO_SIGKILL);
}
static void kill_partners_process(void)
{
    ENTER(other, SIGNAL_KILL, 0, (uintptr_t)partner->proc->pid, 0, KYMO_SIGKILL);
}
static void cancel_self(void)
{
    ENTER(mate, THREAD_CANCEL, (uintptr_t)self->tid, STUB);
}
static void cancel_partner(void)
{
    ENTER(partners_mate, THREAD_CANCEL, (uintptr_t)partner->tid, STUB);
}
static void detach(void)
{
    ENTER(clients_mate, CONNECT_DETACH, (uintptr_t)coid);
}
static void destroy_channel(void)
{
    ENTER(servers_mate, CHANNEL_DESTROY, 1);
}

void window_set_priority(const struct thread *t, int priority)
{
    const struct sched_param_kymo param = {.sched_priority = priority};

    memcpy(world_at(other, PARAM), &param, sizeof(param));
    ENTER(other, SCHED_SET, (uintptr_t)t->proc->pid, (uintptr_t)t->tid, SCHED_NOCHANGE, PARAM);
}
static void raise_self(void)
{
    window_set_priority(self, 30);
}
static void lower_self(void)
{
    window_set_priority(self, 3);
}
static void raise_partner(void)
{
    window_set_priority(partner, 30);
}
static void lower_partner(void)
{
    window_set_priority(partner, 3);
}

static void pulse(int to)
{
    ENTER(other, MSG_SEND_PULSE, (uintptr_t)to, 10, 1, 0);
}
static void pulse_server(void)
{
    pulse(others_coid);
}
static void wake_high(void)
{
    pulse(high_coid);
}
static void wake_low(void)
{
    pulse(low_coid);
}
static void send_to_server(void)
{
    ENTER(other, MSG_SENDV, (uintptr_t)others_coid, AT(1), LEN(8), AT(2), LEN(8));
}
static void receive_beside(void)
{
    ENTER(servers_mate, MSG_RECEIVEV, 1, AT(1), LEN(8), 0);
}
static void reply_for_self(void)
{
    ENTER(servers_mate, MSG_REPLYV, (uintptr_t)client->rcvid, 0, AT(1), LEN(8));
}
static void ask_for_exit(void)
{
    cpu_request(&cpus[0], WORK_RESCHED);
}

const struct window_act window_acts[] = {
    {"nothing", nothing, BEHIND}, /* the first */
    {"unmap what it sends", unmap_out, HAS_TIME},
    {"unmap where it gets", unmap_in, HAS_IOVS},
    {"unmap its iov_t", unmap_iovs, HAS_IOVS},
    {"unmap something else", unmap_other, HAS_IOVS},
    {"unmap what its partner sends", unmap_partners_out, BEHIND},
    {"unmap where its partner gets", unmap_partners_in, BEHIND},
    {"protect what it sends", protect_out, HAS_TIME},
    {"protect where it gets", protect_in, HAS_IOVS},
    {"the log listens", log_alone, BEHIND},
    {"the log and D listen", log_and_d, BEHIND},
    {"nobody listens", events_off, BEHIND},
    {"hold it", hold_self, BEHIND},
    {"hold it for a moment", hold_self_shortly, BEHIND},
    {"hold its partner", hold_partner, BEHIND},
    {"hold its partner for a moment", hold_partner_shortly, BEHIND},
    {"end it", end_self, BEHIND},
    {"end its partner", end_partner, BEHIND},
    {"kill its process", kill_own_process, BEHIND},
    {"kill its partner's process", kill_partners_process, BEHIND},
    {"cancel it", cancel_self, BEHIND},
    {"cancel its partner", cancel_partner, BEHIND},
    {"detach the connection", detach, BEHIND},
    {"destroy the channel", destroy_channel, BEHIND},
    {"raise it", raise_self, BEHIND},
    {"lower it", lower_self, BEHIND},
    {"raise its partner", raise_partner, BEHIND},
    {"lower its partner", lower_partner, BEHIND},
    {"send a pulse to the server", pulse_server, BEHIND},
    {"send the server a message", send_to_server, BEHIND},
    {"receive beside the server", receive_beside, BEHIND},
    {"reply instead", reply_for_self, BEHIND},
    {"wake a higher thread for its CPU", wake_high, BEHIND},
    {"wake a lower thread for its CPU", wake_low, BEHIND},
    {"ask for its exit", ask_for_exit, BEHIND},
};
const unsigned window_acts_count = sizeof(window_acts) / sizeof(window_acts[0]);

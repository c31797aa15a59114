/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent(): permissions, arguments, errors. Kernel lock, kernel context.
 *
 * All commands except QUERYSUPPORT and QUERYVERSION need the ability (-EPERM). Only the buffers'
 * owner, or any able process once the owner has ended, may free, take and give back buffers and set
 * the mode and high-water mark (-EPERM); others may start, stop, flush, filter and query, so that
 * an application can control its own capture. Unknown commands: -ENOTSUP. Tested by
 * test/trace/control_test.c.
 */
#include "trace/control.h"

#include "abi/errno.h"
#include "abi/sys/trace.h"
#include "trace/filter.h"
#include "trace/gate.h"
#include "trace/log.h"
#include "trace/loss.h"
#include "trace/threads.h"
#include "trace/trigger.h"

#define NTO_VERSION 640 /* QUERYVERSION: the QNX release that defines these numbers and commands */

static bool is_owner(const struct trace_caller *caller)
{
    return !trace_state.log.block || !trace_state.log.owner ||
           trace_state.log.owner == caller->owner;
}

static long query_owner(struct kymo_trace_owner *out)
{
    if (!trace_state.log.block) {
        return -EFAULT;
    }
    *out = trace_state.owner;
    out->gone = !trace_state.log.owner;
    out->running = trace_state.running;
    out->per_cpu = trace_state.log.per_cpu;
    out->triggered = trace_trigger_fired();
    return 0;
}

/* Ends a filter command: returns 0, with the sites patched by the new filter, or its error. */
static long control_filtered(int error)
{
    if (!error) {
        trace_filter_apply(trace_state.running);
    }
    return error;
}

static long filter_command(uint32_t cmd, const uint32_t args[4])
{
    long error;

    switch (cmd) {
    case _NTO_TRACE_ADDALLCLASSES:
    case _NTO_TRACE_DELALLCLASSES:
        trace_filter_all(TRACE_SET_ON, cmd == _NTO_TRACE_ADDALLCLASSES);
        return control_filtered(0);
    case _NTO_TRACE_ADDCLASS:
    case _NTO_TRACE_DELCLASS:
        return control_filtered(
            trace_filter_class(TRACE_SET_ON, args[0], cmd == _NTO_TRACE_ADDCLASS));
    case _NTO_TRACE_ADDEVENT:
    case _NTO_TRACE_DELEVENT:
        return control_filtered(
            trace_filter_event(TRACE_SET_ON, args[0], args[1], cmd == _NTO_TRACE_ADDEVENT));
    case _NTO_TRACE_SETALLCLASSESFAST:
    case _NTO_TRACE_SETALLCLASSESWIDE:
        trace_filter_all(TRACE_SET_WIDE, cmd == _NTO_TRACE_SETALLCLASSESWIDE);
        return 0;
    case _NTO_TRACE_SETCLASSFAST:
    case _NTO_TRACE_SETCLASSWIDE:
        return trace_filter_class(TRACE_SET_WIDE, args[0], cmd == _NTO_TRACE_SETCLASSWIDE);
    case _NTO_TRACE_SETEVENTFAST:
    case _NTO_TRACE_SETEVENTWIDE:
        return trace_filter_event(TRACE_SET_WIDE, args[0], args[1], cmd == _NTO_TRACE_SETEVENTWIDE);
    default:
        error = trace_threads_command(cmd, args);
        if (!error) {
            trace_filter_slow();
        }
        return control_filtered((int)error);
    }
}

static long run_command(uint32_t cmd, const uint32_t args[4], void *data)
{
    const struct trace_cpu *cpu = trace_port_cpu();

    switch (cmd) {
    case _NTO_TRACE_START:
        return trace_state_start(true);
    case _NTO_TRACE_STARTNOSTATE:
        return trace_state_start(false);
    case _NTO_TRACE_STOP:
        return trace_state.running && trace_state.dump_at_end ? TRACE_DUMP_THEN_STOP
                                                              : trace_state_stop();
    case _NTO_TRACE_FLUSHBUFFER:
        return trace_state_flush();
    case KYMO_TRACE_FLUSHCPUS:
        return trace_state_visit((uint64_t)args[1] << 32 | args[0]);
    case _NTO_TRACE_QUERYEVENTS:
        if (!trace_state.log.block) {
            return -EFAULT;
        }
        return cpu->end ? (long)TRACE_BUFFER_SLOTS - (cpu->end - cpu->cursor) : 0;
    case KYMO_TRACE_QUERYLOSS:
        if (args[0] >= trace_port_cpu_count()) {
            return -EINVAL;
        }
        if (!data) {
            return -EFAULT;
        }
        trace_state_query(args[0], data);
        return 0;
    case KYMO_TRACE_QUERYSTOPPED:
        if (args[0] >= trace_port_cpu_count()) {
            return -EINVAL;
        }
        if (!data) {
            return -EFAULT;
        }
        trace_state_stopped(args[0], data);
        return 0;
    case KYMO_TRACE_QUERYOWNER:
        return data ? query_owner(data) : -EFAULT;
    default:
        return filter_command(cmd, args);
    }
}

long trace_state_take(struct kymo_trace_buffer *out)
{
    unsigned cpu;
    uint32_t local;

    if (!trace_state.log.block) {
        return -EFAULT;
    }
    if (trace_state.running && trace_state.policy != TRACE_LINEAR) {
        return -EBUSY;
    }
    out->index = trace_consumer_take(&trace_state.log, &cpu, &local);
    if (out->index == TRACE_NONE) {
        return -EAGAIN;
    }
    struct trace_cpu *from = trace_port_cpu_at(cpu);
    const struct trace_buffer *buffer = &from->ring.buffers[local];
    out->cpu = cpu;
    out->sequence = TRACE_WORD_SEQUENCE(buffer->word);
    out->slots = buffer->used / TRACE_SLOT_BYTES;
    return 0;
}

long trace_state_give(uint32_t index)
{
    if (!trace_state.log.block) {
        return -EFAULT;
    }
    int error = trace_consumer_give(&trace_state.log, index);
    if (error) {
        return error;
    }
    /* This CPU's buffer may now be closed. */
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();
    if (trace_log_passed(cpu)) {
        TRACE_PORT_REQUEST_EXIT(cpu);
    }
    trace_port_irq_restore(irq);
    trace_port_buffer_freed();
    return 0;
}

static long control_alloc(const struct trace_caller *caller, uint32_t per_cpu, uint64_t *paddr,
                          bool retained)
{
    struct kymo_trace_owner *owner = &trace_state.owner;
    long error = trace_state_alloc(caller->owner, per_cpu, paddr, retained);

    if (!error) {
        *owner = (struct kymo_trace_owner){.pid = caller->pid};
        for (unsigned i = 0; i + 1 < KYMO_TRACE_NAME_MAX && caller->name[i]; i++) {
            owner->name[i] = caller->name[i];
        }
    }
    return error;
}

static long owner_command(const struct trace_caller *caller, uint32_t cmd, const uint32_t args[4],
                          void *data)
{
    struct trace_gate_request *gate = data; /* for SETGATE */

    if (!is_owner(caller)) {
        return cmd == _NTO_TRACE_ALLOCBUFFER || cmd == KYMO_TRACE_ALLOCRETAINED ? -EEXIST : -EPERM;
    }
    switch (cmd) {
    case _NTO_TRACE_ALLOCBUFFER:
    case KYMO_TRACE_ALLOCRETAINED:
        return data ? control_alloc(caller, args[0], data, cmd == KYMO_TRACE_ALLOCRETAINED)
                    : -EFAULT;
    case _NTO_TRACE_DEALLOCBUFFER:
        if (!trace_state.log.block) {
            return -EFAULT;
        }
        trace_state_dealloc();
        return 0;
    case KYMO_TRACE_TAKEBUFFER:
        return data ? trace_state_take(data) : -EFAULT;
    case KYMO_TRACE_GIVEBUFFER:
        return trace_state_give(args[0]);
    case _NTO_TRACE_SETRINGMODE:
        return trace_state_mode(TRACE_RING);
    case _NTO_TRACE_SETLINEARMODE:
        return trace_state_mode(TRACE_LINEAR);
    case KYMO_TRACE_SETFILLMODE:
        return trace_state_mode(TRACE_FILL);
    case KYMO_TRACE_SETHIGHWATER:
        if (args[0] < TRACE_HIGH_WATER_LEAST || args[0] > TRACE_BUFFER_SLOTS) {
            return -EINVAL;
        }
        trace_state_high_water(args[0]);
        return 0;
    case KYMO_TRACE_SETGATE:
        if (gate && !gate->name) {
            trace_gate_close();
            return 0;
        }
        return gate ? trace_gate_open(gate->name, &gate->why) : -EFAULT;
    default: /* _NTO_TRACE_SKIPBUFFER, _NTO_TRACE_OVERWRITEBUFFER */
        trace_state_overwrite(cmd == _NTO_TRACE_OVERWRITEBUFFER);
        return 0;
    }
}

long trace_control(const struct trace_caller *caller, uint32_t cmd, const uint32_t args[4],
                   void *data)
{
    switch (cmd) {
    case _NTO_TRACE_QUERYSUPPORT:
        return 1;
    case _NTO_TRACE_QUERYVERSION:
        return NTO_VERSION;
    default:
        break;
    }
    if (!caller->able) {
        return -EPERM;
    }
    switch (cmd) {
    case _NTO_TRACE_ALLOCBUFFER:
    case KYMO_TRACE_ALLOCRETAINED:
    case _NTO_TRACE_DEALLOCBUFFER:
    case KYMO_TRACE_TAKEBUFFER:
    case KYMO_TRACE_GIVEBUFFER:
    case _NTO_TRACE_SETRINGMODE:
    case _NTO_TRACE_SETLINEARMODE:
    case KYMO_TRACE_SETFILLMODE:
    case KYMO_TRACE_SETHIGHWATER:
    case KYMO_TRACE_SETGATE:
    case _NTO_TRACE_SKIPBUFFER:
    case _NTO_TRACE_OVERWRITEBUFFER:
        return owner_command(caller, cmd, args, data);
    default:
        return run_command(cmd, args, data);
    }
}

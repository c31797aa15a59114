-- SPDX-License-Identifier: BSD-2-Clause
--
-- The views of kymo query and kymo load, in SQL that DuckDB and ClickHouse 18.16 share: no windows,
-- no joins, integers only. percentile_NN(x) is the smallest value that NN of 100 do not exceed; it
-- is a macro in DuckDB (query.js) and quantileExact() in ClickHouse (schema.c). Each view is one
-- statement behind a line `-- NAME: what it shows`.

-- devices: each device: its captures, firmwares, days, losses, how many have times in UTC
SELECT device, count(*) AS captures, count(DISTINCT firmware) AS firmwares, min(date) AS first_date,
    max(date) AS last_date, sum(events) AS recorded, sum(lost_events) AS lost,
    sum(1 - complete) AS incomplete, count(started) AS with_time
FROM captures GROUP BY device ORDER BY device;

-- boots: by device and firmware: recorded boots, resets that a flight recorder survived, panics
SELECT device, firmware, coalesce(count(DISTINCT booted), 0) +
    coalesce(count(DISTINCT CASE WHEN booted IS NULL THEN capture END), 0) AS boots,
    count(*) AS captures, count(retained) AS after_reset, count(panic) AS panics
FROM captures GROUP BY device, firmware ORDER BY device, firmware;

-- panics: each crash that a capture tells of
SELECT device, firmware, date, panic, panic_reason, panic_where, file, capture
FROM captures WHERE panic IS NOT NULL ORDER BY device, date, capture;

-- latency_by_firmware: from MsgSend() to the reply, by firmware and server
SELECT firmware, server, count(*) AS messages, count(DISTINCT device) AS devices,
    percentile_50(latency_ns) AS p50_ns, percentile_90(latency_ns) AS p90_ns,
    percentile_99(latency_ns) AS p99_ns, max(latency_ns) AS max_ns
FROM messages WHERE latency_ns IS NOT NULL GROUP BY firmware, server ORDER BY firmware, server;

-- latency_by_device: the same by device and server
SELECT device, server, count(*) AS messages, percentile_50(latency_ns) AS p50_ns,
    percentile_90(latency_ns) AS p90_ns, percentile_99(latency_ns) AS p99_ns,
    max(latency_ns) AS max_ns
FROM messages WHERE latency_ns IS NOT NULL GROUP BY device, server ORDER BY device, server;

-- losses_by_device: what the recording lost, by reason and class; lost is NULL if it is not known
SELECT device, what, reason, class, count(*) AS accounts, count(DISTINCT capture) AS captures,
    sum(lost_events) AS lost
FROM losses WHERE kind = 'loss' GROUP BY device, what, reason, class
ORDER BY device, what, reason, class;

-- scope_by_device: what was not meant to be recorded: filters, gates, pauses
SELECT device, what, class, text, count(DISTINCT capture) AS captures
FROM losses WHERE kind = 'scope' GROUP BY device, what, class, text
ORDER BY device, what, class, text;

-- cpu_by_thread: time on a CPU, by firmware and thread
SELECT firmware, process, thread, count(DISTINCT device) AS devices, count(*) AS runs,
    sum(duration_ns) AS cpu_ns, max(duration_ns) AS longest_ns
FROM states WHERE state = 'RUNNING' GROUP BY firmware, process, thread
ORDER BY firmware, process, thread;

-- waits_by_thread: time in states other than RUNNING, by firmware and thread
SELECT firmware, process, thread, state, count(*) AS waits, sum(duration_ns) AS total_ns,
    percentile_99(duration_ns) AS p99_ns, max(duration_ns) AS longest_ns
FROM states WHERE state <> 'RUNNING' GROUP BY firmware, process, thread, state
ORDER BY firmware, process, thread, state;

-- events_by_firmware: how many events of which kind
SELECT firmware, class, event, count(*) AS recorded, count(DISTINCT device) AS devices
FROM events GROUP BY firmware, class, event ORDER BY firmware, class, event;

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Client and server: how long each thread ran for itself, and how long servers ran on its behalf.
 */

addView({id: "service", title: "Clients and servers", tab: "Client/Server", about: "Self: the thread itself ran. Imposed: server threads ran for it between receiving its message and replying. " +
    "A server that works for a server charges the client behind it, too, so imposed times overlap.",
    show: async (scope) => {
        const {tables, idle} = report.loaded, [figures, served] = await Promise.all([ask("figures", scope), ask("served", scope)]);
        const rows = tables.threads.map((info, thread) => ({thread, self: stateTime(figures, thread, STATE_RUNNING), imposed: figures.imposed[thread]}))
            .filter(({thread, self, imposed}) => thread && !idle[thread] && self + imposed > 0);
        const processes = new Map(), servers = new Map();
        for (const row of rows) {
            const [pid] = tables.threads[row.thread], key = processText(row.thread), was = processes.get(key) || {name: key, pid, self: 0, imposed: 0};
            was.self += row.self;
            was.imposed += row.imposed;
            processes.set(key, was);
            servers.set(pid, (servers.get(pid) || 0) + row.self);
        }
        const most = Math.max(1, ...rows.map((row) => row.self + row.imposed));
        const columns = [timeColumn("self", (row) => row.self), timeColumn("imposed", (row) => row.imposed),
            {...timeColumn("both", (row) => row.self + row.imposed), share: (row) => (row.self + row.imposed) / most},
            {title: "imposed of both", number: true, value: (row) => row.imposed / (row.self + row.imposed), text: (row) => shareText(row.imposed, row.self + row.imposed)}];
        return [doubtOf(scope, figures.known),
            part("Threads", dataTable({id: "self-table", sort: 3, rows, go: (row) => showRow(row.thread, scope.from, scope.to), columns: [threadColumn("thread", (row) => row.thread), ...columns]})),
            part("Processes", dataTable({id: "self-processes", sort: 3, rows: [...processes.values()], columns: [{title: "process", value: (row) => row.name},
                columns[0], columns[1], columns[3]]})),
            part("Servers' CPU time, by the threads that caused it", dataTable({id: "served-table", sort: 2, rows: served.rows.map(([client, server, time]) => ({client, server, time})),
                columns: [threadColumn("client", (row) => row.client), {title: "server", value: (row) => processName(row.server)}, timeColumn("CPU time", (row) => row.time),
                    {title: "of server's", number: true, value: (row) => row.time / (servers.get(row.server) || 1), text: (row) => shareText(row.time, servers.get(row.server) || 0)}]}))];
    }});

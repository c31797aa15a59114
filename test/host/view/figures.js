/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the views of a page count of [from, to]: an asynchronous function's body, for
 * test/host/view/check.py.
 */
const [from, to, done] = arguments;
Promise.all([ask("figures", {from, to}), ask("statistics", {from, to, bins: 7}), ask("messages", {from, to}),
    ask("served", {from, to}), ask("interrupts", {from, to})]).then((all) => done(JSON.stringify(all)), (e) => done(String(e)));

#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""check.py [CASE...]: kymo view of files. What chromium shows of a part is what the page of the
whole has there; the server bears what anybody sends. SEED=n repeats a run's choices."""
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "test/host/report"), os.path.join(ROOT, "test/board"),
                os.path.join(ROOT, "test/tool")]
import browser  # noqa: E402
import patience  # noqa: E402
import temporary  # noqa: E402
from guest import expect, run_tests  # noqa: E402
from viewing import GOLDEN, KYMO, View  # noqa: E402

SEED = int(os.environ.get("SEED", time.time_ns() % 1000000))
MEMORY_MOST = 400 << 10  # KB


def script(name):
    with open(os.path.join(ROOT, "test/host/view", name), encoding="ascii") as f:
        return f.read()


SLICE, FIGURES = script("shown.js"), script("figures.js")


def made(folder, events, seed=7):
    path = os.path.join(folder, "made.kev")
    subprocess.run([os.path.join(ROOT, "build/tools/mkcapture"), path, "4", str(events), str(seed)],
                   check=True, stdout=subprocess.DEVNULL)
    return path


def show(b, url):
    b.ask("POST", "/url", {"url": "about:blank"})
    b.ask("POST", "/url", {"url": url})
    b.until("document.documentElement.dataset.ready", "the page")


def figures(b, from_, to):
    return json.loads(b.ask("POST", "/execute/async", {"script": FIGURES, "args": [from_, to]}))


def small_is_the_report(folder):
    """All at once: the same as the file that kymo report writes."""
    page = os.path.join(folder, "page.html")
    subprocess.run([KYMO, "report", GOLDEN, "-o", page], check=True)
    with View(GOLDEN) as view, browser.opened() as b:
        b.open(page)
        b.until("document.documentElement.dataset.ready", "the page")
        first, last = b.run("return [report.loaded.tables.first, report.loaded.tables.last]")
        want = b.run(SLICE, first, last), figures(b, first, last)
        findings = b.run("return report.loaded.tables.findings")
        show(b, view.url)
        got = b.run(SLICE, first, last), figures(b, first, last)
        expect(want[0]["states"] and got == want, "it differs from kymo report's page")
        expect(findings and b.run("return report.loaded.tables.findings") == findings,
               "it has not the findings of kymo report's page")
        b.until("location.hash.length > 3", "a link to the view")
        tabs = b.run("return document.querySelectorAll('#tabs [role=tab]').length")
        for _ in range(tabs):
            b.keys("v")
            b.until("$('pane').hidden || $('pane').getAttribute('aria-busy') !== 'true'", "a view")
        said = b.complaints() + b.run("return report.faults")
        expect(not said, said)


def parts_are_of_the_whole(folder):
    """A larger one: by windows, each with what the page of the whole has there."""
    choose = random.Random(SEED)
    capture, page = made(folder, 1200000), os.path.join(folder, "page.html")
    subprocess.run([KYMO, "report", "--force", capture, "-o", page], check=True)
    with View("--most", "262144", capture) as view, browser.opened() as b:
        b.open(page)
        b.until("document.documentElement.dataset.ready", "the page")
        first, last = b.run("return [report.loaded.tables.first, report.loaded.tables.last]")
        windows = []
        for _ in range(5):
            length = choose.choice([20000, 3000000, 90000000])
            from_ = choose.randrange(first, last - length)
            windows.append([from_, from_ + length])
        windows += [[first, first + 1000000], [last - 1000000, last]]
        want = [(b.run(SLICE, *w), figures(b, *w)) for w in windows]
        show(b, view.url)
        expect(b.run("return report.loaded.levels !== null"), "no levels")
        b.run("openView('summary')")
        b.until("document.getElementById('far')", "the word that it is too much")
        stat = subprocess.run([KYMO, "stat", capture], capture_output=True, text=True).stdout
        expect(b.run("return $('whole').textContent") == stat.rstrip("\n"), "not kymo stat's")
        b.run("openView('timeline')")
        for window, (shown, counted) in zip(windows, want):
            b.run("showTimes(arguments[0], arguments[1])", *window)
            b.until(f"servedPart() && servedPart().from <= {window[0]} &&"
                    f" servedPart().to >= {window[1]}", f"the part of {window}")
            got = b.run(SLICE, *window)
            for key in shown:
                expect(got[key] == shown[key], f"seed {SEED}, {window}: {key} differ")
            expect(figures(b, *window) == counted, f"seed {SEED}, {window}: figures differ")
        b.run("showTimes(...wholeSpan())")
        b.until("report.loaded.levels !== null", "the levels again")
        said = b.complaints() + b.run("return report.faults")
        expect(not said, said)


def a_view_is_looked_at(folder):
    """Dark, narrow, by keys: nothing complains."""
    with View(GOLDEN) as view, browser.opened(700, 500) as b:
        show(b, view.url)
        for key in ("t", "s", "v", "+", "+", "ArrowDown", "ArrowDown", "w", "?", "Escape", "f",
                    "l"):
            b.keys(key)
        expect(b.run("return document.documentElement.dataset.theme") is not None, "no theme")
        said = b.complaints() + b.run("return report.faults")
        expect(not said, said)


def strangers_get_nothing(_):
    with View(GOLDEN) as view:
        secret, port = view.found[2], view.port
        wrong = "".join(random.Random(SEED).choice("0123456789abcdef") for _ in secret)
        for path in ("/", "/state", f"/{wrong}/", f"/{secret[:-1]}/", f"/{secret}",
                     f"/{secret}x/state", f"/../{secret}/../etc/passwd", "//", f"/{wrong}/whole"):
            status, body = view.get(path)
            expect(status in (400, 404) and secret.encode() not in body, f"{path}: {status} {body}")
        for path in ("../../etc/passwd", "%2e%2e/etc/passwd", "state/", "whole/..", "favicon.ico"):
            status, body = view.get(path)
            expect(status == 404 and b"root" not in body, f"{path}: {status} {body}")
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}",
                     f"127.0.0.1:{port}.evil.example", "[::1]", "0.0.0.0"):
            expect(view.get("", host=host)[0] == 403, f"host {host}")
        expect(view.get("", host=f"localhost:{port}")[0] == 200, "localhost")
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD"):
            expect(view.get("state", method)[0] == 405, method)
        for query in ("", "?from=0", "?from=x&to=1&generation=1", "?from=9&to=1&generation=1",
                      "?from=0&to=99999999999999999999&generation=1", "?from=0&to=1&generation=-"):
            expect(view.get("part" + query)[0] == 400, query)
        expect(view.get("part?from=0&to=1&generation=99")[0] == 409, "no such generation")
        for from_, to in ((-2**63, 2**63 - 1), (0, 0), (2**63 - 1, 2**63 - 1)):
            expect(view.get(f"part?from={from_}&to={to}&generation=1")[0] == 200, f"{from_} {to}")
        view.works()
        for name in ("Access-Control-Allow-Origin", "Server"):
            expect(name not in view.headers, view.headers)
        expect(view.headers["Cross-Origin-Resource-Policy"] == "same-origin" and
               view.headers["Cache-Control"] == "no-store", view.headers)
        with open(f"/proc/{view.process.pid}/net/tcp", encoding="ascii") as f:
            mine = [row.split()[1] for row in f if f":{port:04X} " in row and " 0A " in row]
        expect(mine == [f"0100007F:{port:04X}"], mine)
        status, out, said = view.end()
        expect(status == 0 and not out and not said, f"{status} {out} {said}")


def hostile_bytes_are_borne(_):
    """Random bytes, halves of requests, 200 connections at once that say nothing, answers that are
    not taken: it serves on, with bounded memory and threads."""
    choose = random.Random(SEED)
    with View(GOLDEN) as view:
        whole = (f"GET /{view.found[2]}/whole HTTP/1.1\r\n"
                 f"Host: 127.0.0.1:{view.port}\r\n\r\n").encode()
        for n in range(150):
            with socket.create_connection(("127.0.0.1", view.port)) as s:
                text = bytearray(whole)
                if n % 3 == 0:
                    text = choose.randbytes(choose.randrange(1, 4000))
                elif n % 3 == 1:
                    text = text[:choose.randrange(len(text))]
                else:
                    for _ in range(choose.randrange(1, 6)):
                        text[choose.randrange(len(text))] = choose.randrange(256)
                try:
                    s.sendall(text)
                except OSError:
                    pass
        view.works()
        for huge in (b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\n\r\n",
                     b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50000 + b"\r\n",
                     b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999\r\n\r\n" +
                     b"z" * 99999):
            with socket.create_connection(("127.0.0.1", view.port)) as s:
                try:
                    s.sendall(huge)
                except OSError:
                    pass
        view.works()
        held = []
        for _ in range(200):
            s = socket.create_connection(("127.0.0.1", view.port))
            s.sendall(choose.choice([b"", b"GET", whole]))
            held.append(s)
        expect(view.status("Threads") <= 3, f"{view.status('Threads')} threads")
        for s in held:
            s.close()
        view.works()
        expect(view.status("VmHWM") < MEMORY_MOST, f"{view.status('VmHWM')} KB of memory")
        expect(view.process.poll() is None, "it has ended")
        status, _, said = view.end(signal.SIGTERM)
        expect(status == 0 and "Sanitizer" not in said, f"{status} {said}")


def the_idle_make_room(_):
    """More connections than there are places, and none of them says anything: they are closed."""
    with View(GOLDEN) as view:
        held = [socket.create_connection(("127.0.0.1", view.port)) for _ in range(100)]
        view.works()
        for s in held:
            s.close()


def a_waiting_page_is_answered_at_the_end(_):
    with View(GOLDEN) as view:
        with socket.create_connection(("127.0.0.1", view.port)) as s:
            version = json.loads(view.get("state")[1])["version"]
            s.sendall(f"GET /{view.found[2]}/state?after={version} HTTP/1.1\r\nHost: 127.0.0.1:"
                      f"{view.port}\r\n\r\n".encode())
            status, _, said = view.end()
            expect(status == 0 and not said, f"{status} {said}")


def what_is_wrong_is_said(folder):
    def run(*words):
        done = subprocess.run([KYMO, "view", *words], capture_output=True, text=True,
                              env={k: v for k, v in os.environ.items() if k != "KYMO_TARGET"},
                              stdin=subprocess.DEVNULL, timeout=patience.seconds(60))
        return done.returncode, done.stdout, done.stderr
    for words in ([], ["a", "b"], ["--port", "0", "a"], ["--port", "65536", "a"],
                  ["--port", "x", "a"], ["-t", "unix:x", "a"], ["-o", "x", "a"], ["--force", "a"],
                  ["--most", "1", "a"], ["-t", "unix:x", "--force"],
                  ["-t", "unix:x", "-o", "-"], ["-z"], ["-t"],
                  ["-t", "unix:x", "--recover"]):
        status, out, said = run(*words)
        expect(status == 2 and said and not out, f"{words}: {status} {out} {said}")
    text = os.path.join(folder, "text.kev")
    with open(text, "w", encoding="ascii") as f:
        f.write("no capture\n")
    for path in (text, os.path.join(folder, "none.kev"), "/dev/null"):
        status, out, said = run(path)
        expect(status == 1 and path in said and not out, f"{path}: {status} {out} {said}")
    with View(GOLDEN) as view:
        status, out, said = run("--port", str(view.port), GOLDEN)
        expect(status == 1 and "in use" in said and not out, f"{status} {out} {said}")
    damaged = os.path.join(folder, "damaged.kev")
    with open(GOLDEN, "rb") as f:
        data = f.read()
    with open(damaged, "wb") as f:
        f.write(data[:len(data) * 2 // 3])
    with View(damaged) as view:  # what there is of it
        view.works()
        status, _, said = view.end()
        expect(status == 0 and damaged in said, f"{status} {said}")


def a_stream_that_is_no_capture_is_refused_at_its_head(_):
    """However long it is: the writer finds the pipe closed, the disk is not filled."""
    process = subprocess.Popen([KYMO, "view", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    sent, zeros = 0, bytes(1 << 20)
    try:
        while sent < 1 << 28:
            sent += process.stdin.write(zeros)
    except BrokenPipeError:
        pass
    process.stdin = None
    _, said = process.communicate(timeout=patience.seconds(60))
    expect(process.returncode == 1 and b"not a capture" in said, said)
    expect(sent < 1 << 24, f"{sent} bytes were read")


def keeps_input(pid):
    """Whether the process has the file that it copies its input to, and something is in it."""
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            if ("kymo-file" in os.readlink(f"/proc/{pid}/fd/{name}") and
                    os.stat(f"/proc/{pid}/fd/{name}").st_size > 0):
                return True
        except FileNotFoundError:
            pass
    return False


def a_stalled_pipe_is_interrupted(_):
    """Standard input that sends no more: each of the signals ends the command."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A check in a shell's background, or under nohup, hands on that these are ignored.
        process = subprocess.Popen([KYMO, "view", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda sign=sign: signal.signal(sign, signal.SIG_DFL))
        process.stdin.write(b"TRACE_HEADER_BEGIN::")
        process.stdin.flush()
        while not keeps_input(process.pid):
            expect(process.poll() is None, f"ended: {process.returncode}")
            time.sleep(0.01)
        process.send_signal(sign)
        try:
            status = process.wait(patience.seconds(20))
        except subprocess.TimeoutExpired:
            process.kill()
            status = None
        process.communicate()
        expect(status == -sign, f"signal {sign}: {status}")


def a_full_disk_is_the_only_reason(_):
    """A write that fails is said once, and not called a lack of memory."""
    def no_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    done = subprocess.run([KYMO, "view", GOLDEN], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, preexec_fn=no_room, timeout=patience.seconds(60))
    expect(done.returncode == 1 and "TMPDIR" in done.stderr, done)
    expect("memory" not in done.stderr and len(done.stderr.splitlines()) == 1, done)


def main():
    tests = [small_is_the_report, parts_are_of_the_whole, a_view_is_looked_at,
             strangers_get_nothing, hostile_bytes_are_borne, the_idle_make_room,
             a_waiting_page_is_answered_at_the_end, a_stalled_pipe_is_interrupted,
             a_stream_that_is_no_capture_is_refused_at_its_head, a_full_disk_is_the_only_reason,
             what_is_wrong_is_said]
    print(f"SEED={SEED}")
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder:
        return run_tests(tests, sys.argv[1:], lambda test: test(folder))


if __name__ == "__main__":
    sys.exit(main())

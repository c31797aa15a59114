#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""kymo export --parquet and kymo query: what is in the tables is what `kymo export --jsonl` says,
what is loaded twice is there once, a kill at any time leaves whole captures only, and SQL reads
the dataset and nothing else. test/host/fleet/check.py [--soak] [NAME...] runs only some tests;
--soak more of each: make check has a sample, because each command starts node."""
import collections
import glob
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
# pylint: disable=wrong-import-position
from fleet import (KYMO, ROOT, collection, lines, make, query, run, run_tests,  # noqa: E402
                   same, views, want)

TESTS = []
SOAK = "--soak" in sys.argv[1:]
GOLDEN = os.path.join(ROOT, "test/host/golden/virt-a64.kev")


def test(function):
    TESTS.append(function)
    return function


def tree(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder)
                  for at, _, names in os.walk(folder) for name in names)


def added(folder, *captures, status=0):
    out = run("export", "--parquet", folder, *captures, status=status)[0].decode()
    return tuple(int(word) for word in out.replace(",", "").split() if word.isdigit())


# ---- what is in it ------------------------------------------------------------------

@test
def tables_have_what_jsonl_has():
    """Events with their values, losses and scope of three kinds of capture."""
    make("lossy.kev", 3000, 5, 1, "lossy", cpus=8)
    make("swapped.kev", 300, 1, 2, "swapped", cpus=2)
    for name, status in (("lossy.kev", 0), ("swapped.kev", 0), (GOLDEN, 0)):
        shutil.rmtree("one", ignore_errors=True)
        added("one", name, status=status)
        have = lines(name, status=status)
        events = query("one",
                       "SELECT ns, cpu, class, event, number, pid, tid, process, thread, args "
                       "FROM events ORDER BY n")
        theirs = [x for x in have if x["kind"] == "event"]
        same(len(events), len(theirs), f"{name}: events")
        for ours, other in zip(events, theirs):
            ours["args"] = json.loads(ours["args"])
            same(ours, {key: other[key] for key in ours}, name)
        losses = query("one",
                       "SELECT kind, what, ns, cpu, class, from_ns, to_ns, lost_events AS events, "
                       "lost_buffers AS buffers, reason, text FROM losses")
        expected = [dict.fromkeys(losses[0], None) | {key: x[key] for key in losses[0] if key in x}
                    for x in have if x["kind"] in ("loss", "scope")]
        key = repr
        same(sorted(losses, key=key), sorted(expected, key=key), f"{name}: losses")
        [capture] = query("one", "SELECT events, losses, lost_events, complete FROM captures")
        end = have[-1]
        same(capture, {"events": end["events"], "losses": end["losses"],
                       "lost_events": end["lost_events"], "complete": int(end["complete"])}, name)


@test
def messages_and_states_are_those_of_the_timeline():
    """Each message that a naive reader of the events pairs is there with its times, and no CPU runs
    two threads at once."""
    make("plain.kev", 4000, 3, 1, cpus=2)
    added("two", "plain.kev")
    sent, expected = {}, []
    for x in (x for x in lines("plain.kev") if x["kind"] == "event" and x["class"] == "COMM"):
        if x["event"] == "SND_MESSAGE":
            sent[(x["pid"], x["tid"])] = x["ns"]
        elif x["event"] in ("REPLY_MESSAGE", "MSG_ERROR"):
            client = (x["args"]["pid"], x["args"]["tid"])
            if client in sent:
                begun = sent.pop(client)
                expected.append((client[0], begun, x["ns"] - begun,
                                 "reply" if x["event"] == "REPLY_MESSAGE" else "error"))
    have = [tuple(x.values())
            for x in query("two", "SELECT client_pid, sent_ns, latency_ns, outcome FROM messages "
                                             "WHERE latency_ns IS NOT NULL")]
    want(len(expected) > 200, "too few messages to be a test")
    same(sorted(have), sorted(expected), "messages")
    runs = query("two",
                 "SELECT cpu, from_ns, duration_ns FROM states WHERE state = 'RUNNING' ORDER BY "
                 "cpu, from_ns")
    want(len(runs) > 200, "too few runs to be a test")
    for a, b in zip(runs, runs[1:]):
        want(a["cpu"] != b["cpu"] or a["from_ns"] + a["duration_ns"] <= b["from_ns"],
             f"{a} and {b}")


@test
def percentiles_are_of_the_nearest_rank():
    collection("lab", 6, 1500, 3)
    same(added("fleet", "lab"), (6, 6), "captures of a collection")
    times = collections.defaultdict(list)
    for x in query("fleet",
                   "SELECT firmware, server, latency_ns FROM messages WHERE latency_ns > 0"):
        times[(x["firmware"], x["server"])].append(x["latency_ns"])
    rows = query("fleet", "FROM latency_by_firmware")
    same(len(rows), len(times), "rows")
    same(len({x["firmware"] for x in rows}), 3, "firmwares")
    for row in rows:
        values = sorted(times[(row["firmware"], row["server"])])
        for n in (50, 90, 99):
            same(row[f"p{n}_ns"], values[math.ceil(n * len(values) / 100) - 1], f"p{n} of {row}")
    devices = query("fleet", "SELECT device, CAST(first_date AS VARCHAR) AS day FROM devices")
    same([(x["device"], x["day"]) for x in devices],
         [(f"device{n:03d}", f"2026-03-{n + 1:02d}") for n in range(6)],
         "the index says who and when")


@test
def every_view_answers():
    names = views()
    want(len(names) >= 10, f"only {names}")
    listed = run("query", "fleet")[0].decode()
    rows = query("fleet", " UNION ALL ".join(f"SELECT '{name}' AS name, count(*) AS n FROM {name}"
                                             for name in names))
    same(sorted(x["name"] for x in rows), sorted(names), "views")
    for name in names:
        want(f"\n{name}: " in listed, f"{name} is not listed")
    empty = {x["name"] for x in rows if x["n"] == 0}
    same(empty, {"panics"}, "views of nothing")


# ---- loading ------------------------------------------------------------------------

@test
def twice_adds_nothing():
    make("a.kev", 500, 1, 1)
    shutil.copy("a.kev", "b.kev")
    os.mkdir("ds")  # an empty folder will do
    same(added("ds", "a.kev"), (1, 1), "the first")
    before = tree("ds")
    same(added("ds", "a.kev", "b.kev", "./a.kev"), (0, 1), "again, under another name, three times")
    same(tree("ds"), before, "the folder")
    make("c.kev", 500, 2, 1)
    same(added("ds", "--device", "x", "c.kev", "a.kev"), (1, 2), "a new one")


@test
def names_of_devices_stay_names():
    """Devices with the names of others' folders, patterns, quotes and control characters."""
    names = ["../../x", "a/b", "it's", "*", "[a-z]", "007", "", "%41", "a=b", "\u00e4", "e\x1b[31m",
             "-x", "NULL",
             "2026-01-01", "x" * 64, "__HIVE_DEFAULT_PARTITION__"]
    names = names if SOAK else names[:3] + names[-3:]
    for n, name in enumerate(names):
        make("h.kev", 100, 50 + n, 1, cpus=1)
        run("export", "--parquet", "hos[t]ile", "--device=" + name, "h.kev",
            status=2 if name == "" else 0)
    have = [x["device"] for x in query("hos[t]ile", "SELECT device FROM devices")]
    expected = {name.replace("\x1b", "\\033") for name in names if name}
    same(set(have), expected, "names of devices")
    want(not os.path.exists("../x"), "a name became a path")
    for form in ([], ["--csv"], ["--json"]):
        out = run("query", *form, "hos[t]ile",
                  "SELECT device, chr(27) || chr(10) AS x FROM devices")[0]
        want(b"\x1b" not in out, "an escape sequence gets to the terminal")


@test
def long_names_of_devices_fit_a_folder():
    """As long as an option may be, and longer than a folder's name once each byte is escaped."""
    names = ["\u0416" * 32, "\u0416" * 31 + "\u0414", "\\" * 64, "\x01" * 64, "x" * 64]
    for n, name in enumerate(names):
        make("long.kev", 100, 80 + n, 1, cpus=1)
        run("export", "--parquet", "long", "--device=" + name, "long.kev")
    have = {x["device"] for x in query("long", "SELECT device FROM devices")}
    same(len(have), len(names), f"each is a device: {have}")
    want("x" * 64 in have, "one that fits stays as it is")
    folders = os.listdir("long/events")
    same(len(folders), len(names), f"{folders}")


@test
def refusals():
    os.makedirs("other")
    open("other/file", "w", encoding="ascii").close()
    open("empty.kev", "wb").close()
    for arguments, status, says in (
            (("export", "--parquet", "other", "a.kev"), 1, "is no folder of kymo export"),
            (("export", "--parquet", "ds"), 2, "which captures"),
            (("export", "--parquet", "ds", "--cpu", "1", "a.kev"), 2, "kymo cut"),
            (("export", "--parquet", "ds", "--date", "2026-02-30", "a.kev"), 2, "no day"),
            (("export", "--parquet", "ds", "--device", "x" * 65, "a.kev"), 2, "bytes"),
            (("export", "--parquet", "ds", "nowhere.kev"), 1, "nowhere.kev"),
            (("export", "--parquet", "ds", "empty.kev"), 1, "empty.kev"),
            (("export", "--parquet", "ds", "/dev/null"), 1, "no regular file"),
            (("export", "--parquet", "ds", "other"), 1, "has no captures"),
            (("query", "nowhere", "SELECT 1"), 1, "nowhere"),
                                    (("query", "other", "SELECT 1"), 1, "other: is no folder"),
            (("query",), 2, "which folder"), (("query", "ds", "SELECT", "1"), 2, "one SQL"),
            (("query", "ds", "--memory", "x", "SELECT 1"), 2, "no size"),
            (("query", "ds", "-f", "nowhere"), 1, "nowhere"),
            (("query", "ds", "--", "-- a comment"), 1, "there is no SQL statement"),
            (("export", "--parquet"), 2, "needs a value"),
            (("load", "clickhouse://127.0.0.1:1/x?cluster=y", "a.kev"), 1, "connect to server"),
                                    (("query", "ds", "SELEKT"), 1, "SELEKT")):
        err = run(*arguments, status=status)[1]
        want(err.startswith("kymo: ") and says in err, f"{arguments}: {err}")
    same(added("ds", "empty.kev", "a.kev", status=1), (0, 2), "one is bad, the others count")


@test
def damaged_captures():
    make("good.kev", 3000, 9, 1)
    data = bytearray(open("good.kev", "rb").read())
    data[-30000:-29000] = b"\xee" * 1000
    open("bad.kev", "wb").write(data)
    same(added("damaged", "bad.kev", status=1), (0, 0), "a damaged capture")
    same([name for name in tree("damaged") if name != "_kymo"], [], "it left something")
    same(added("damaged", "--recover", "bad.kev"), (1, 1), "recovered")
    want(query("damaged", "FROM losses WHERE what = 'damaged'"), "damage is a loss")


@test
def killed_at_any_time():
    """SIGKILL and SIGTERM at random: no capture is there in part, and the next run repairs."""
    seed = int(os.environ.get("SEED", "0")) or random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    for n in range(4):
        make(f"k{n}.kev", 8000, 20 + n, 1)
    whole = {}
    for attempt in range(60 if SOAK else 4):
        sent = dice.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        with subprocess.Popen([KYMO, "export", "--parquet", "killed", *glob.glob("k*.kev")],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            time.sleep(dice.random() * 0.9)
            child.send_signal(sent)
            child.wait()
        if os.path.exists("killed/_kymo") and glob.glob("killed/captures/*/*/*/*.parquet"):
            for x in query("killed",
                           "SELECT c.capture, any_value(c.events) AS says, count(*) AS has FROM "
                           "captures c "
                           "JOIN events e USING (capture) WHERE e.class <> 'CONTROL' "
                           "GROUP BY c.capture"):
                same(x["has"], x["says"], f"SEED={seed}, attempt {attempt}: a part of a capture")
                whole[x["capture"]] = x["has"]
        if sent != signal.SIGKILL:
            # That of a run before, which was killed, is there if this one ended before it began.
            want(not os.path.exists(f"killed/.staging-{child.pid}"),
                 f"SEED={seed}: a signal leaves files")
    added("killed", *glob.glob("k*.kev"))
    same(query("killed", "SELECT count(*) AS n FROM captures")[0]["n"], 4,
         f"SEED={seed}: all are there in the end")
    same(query("killed",
               "SELECT count(*) AS n, sum(e) AS e FROM (SELECT capture, count(*) AS e FROM events "
               "WHERE class <> 'CONTROL' GROUP BY 1)")
         [0], query("killed", "SELECT count(*) AS n, sum(events) AS e FROM captures")[0],
         f"SEED={seed}: events")
    want(not glob.glob("killed/.staging-*"), "remains")


@test
def remains_of_a_kill_are_not_read():
    """Files of a capture that `captures` has not: not in answers, gone with the next run."""
    make("r1.kev", 500, 31, 1)
    make("r2.kev", 500, 32, 1)
    added("remains", "r1.kev")
    before = query("remains", "SELECT count(*) AS n FROM events")
    known = set(glob.glob("remains/*/*/*/*/*.parquet"))
    added("remains", "r2.kev")
    for name in glob.glob("remains/captures/*/*/*/*.parquet"):
        if name not in known:
            os.remove(name)
    os.mkdir("remains/.staging-1")
    same(query("remains", "SELECT count(*) AS n FROM events"), before,
         "events of a capture that is not there")
    added("remains", "r1.kev")
    same(set(glob.glob("remains/*/*/*/*/*.parquet")), known, "remains stay")
    want(not os.path.exists("remains/.staging-1"), "a folder stays")


@test
def two_at_once():
    for n in range(3):
        make(f"t{n}.kev", 2000, 40 + n, 1)
    children = [subprocess.Popen([KYMO, "export", "--parquet", "both", *order],
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
                for order in (["t0.kev", "t1.kev", "t2.kev"], ["t2.kev", "t1.kev", "t0.kev"])]
    counts = [int(child.communicate()[0].split()[1]) for child in children]
    same([child.returncode for child in children], [0, 0], "status")
    same(sum(counts), 3, f"each is added once: {counts}")
    same(query("both", "SELECT count(*) AS n FROM captures")[0]["n"], 3, "captures")


@test
def node_dies():
    """A child that ends, writes nonsense or is not there: status 1, a reason, nothing half."""
    os.makedirs("bin", exist_ok=True)
    make("n.kev", 500, 60, 1)
    plain = "/usr/bin:/bin"
    for script, says in (("exit 0", "ended before"), ("kill -9 $$", "ended before"),
                         ("echo frob; cat >/dev/null", "frob"),
                         ("read x; echo ok; exit 0", "ended before")):
        open("bin/node", "w", encoding="ascii").write("#!/bin/sh\n" + script + "\n")
        os.chmod("bin/node", 0o755)
        done = subprocess.run([KYMO, "export", "--parquet", "dies", "n.kev"], capture_output=True,
                              check=False,
                              env=dict(os.environ, PATH="bin:" + plain))
        same(done.returncode, 1, script)
        want(says in done.stderr.decode(), f"{script}: {done.stderr.decode()}")
        same(tree("dies"), ["_kymo"], f"{script}: what is left")
    for command in (["export", "--parquet", "dies", "n.kev"], ["query", "dies", "SELECT 1"]):
        done = subprocess.run([KYMO, *command], capture_output=True, check=False,
                              env={"PATH": os.path.abspath("no")})
        same(done.returncode, 1, "without node")
        want("not installed: " in done.stderr.decode(), done.stderr.decode())
    os.makedirs("away/build", exist_ok=True)
    shutil.copy(KYMO, "away/build/kymo")
    os.makedirs("away/host", exist_ok=True)
    if not os.path.exists("away/host/fleet"):
        os.symlink(os.path.join(ROOT, "host/fleet"), "away/host/fleet")
    done = subprocess.run(["away/build/kymo", "query", "ds", "SELECT 1"], capture_output=True,
                          check=False)
    want(done.returncode == 1 and "make install-query" in done.stderr.decode(),
         done.stderr.decode())


@test
def disk_full():
    """A file that can't grow any more: a reason, nothing half."""
    make("big.kev", 60000, 61, 1)
    done = subprocess.run(["bash", "-c",
                           f"ulimit -f 1000; trap '' XFSZ; exec '{KYMO}' export --parquet full "
                           f"big.kev"],
                          capture_output=True, check=False)
    same(done.returncode, 1, "status")
    want("File too large" in done.stderr.decode(), done.stderr.decode())
    same(tree("full"), ["_kymo"], "what is left")


# ---- SQL ----------------------------------------------------------------------------

@test
def sql_reads_the_dataset_and_nothing_else():
    open("secret.csv", "w", encoding="ascii").write("a\n1\n")
    at = os.path.abspath("secret.csv")
    parquet = glob.glob("ds/events/*/*/*/*.parquet")[0]
    inside = os.path.relpath(parquet, "ds")
    before = {name: open(os.path.join("ds", name), "rb").read() for name in tree("ds")}
    statements = [f"SELECT * FROM read_csv('{at}')", f"SELECT * FROM '{at}'",
                  f"SELECT * FROM read_text('{at}')",
                "SELECT * FROM glob('/*')", f"COPY (SELECT 1) TO '{os.path.dirname(at)}/new.csv'",
                f"COPY (SELECT 1) TO '{inside}'",
                  f"COPY (SELECT 1) TO '{inside}' (USE_TMP_FILE false)",
                f"EXPLAIN ANALYZE COPY (SELECT 1) TO '{inside}' (USE_TMP_FILE false)",
                f"EXPLAIN /**/ (ANALYZE) COPY (SELECT 1) TO '{inside}' (USE_TMP_FILE false)",
                f"PREPARE x AS COPY (SELECT 1) TO '{inside}' (USE_TMP_FILE false); EXECUTE x",
                f"SELECT 1; COPY (SELECT 1) TO '{inside}' (USE_TMP_FILE false)",
                "ATTACH 'new.db'", f"ATTACH '{inside}'", "EXPORT DATABASE 'new'", "INSTALL httpfs",
                  "LOAD httpfs",
                "SET enable_external_access = true", "SET allowed_paths = ['/']",
                  "RESET lock_configuration",
                "PRAGMA enable_profiling", "SET profile_output = 'new'",
                  "CREATE PERSISTENT SECRET x (TYPE s3)",
                "INSERT INTO events SELECT * FROM events", "VACUUM", "CALL pragma_version()"]
    for sql in statements if SOAK else statements[2:20:3]:
        err = run("query", "ds", sql, status=1)[1]
        want(err.startswith("kymo: query: "), f"{sql}: {err}")
    same({name: open(os.path.join("ds", name), "rb").read() for name in tree("ds")}, before,
         "the dataset")
    os.symlink(at, os.path.join(os.path.dirname(parquet), "0" * 64 + "-0.parquet"))
    same(query("ds", "SELECT count(*) AS n FROM captures")[0]["n"], 2, "a link is not followed")
    os.remove(os.path.join(os.path.dirname(parquet), "0" * 64 + "-0.parquet"))


@test
def outputs():
    sql = ("SELECT 1 AS a, 'x,\"y' AS b, NULL AS c, 12345678901234567890 AS d, '=1' AS e, "
           "0.5::DOUBLE AS f, [1, 2] AS g")
    same(query("ds", sql), [{"a": 1, "b": 'x,"y', "c": None, "d": "12345678901234567890", "e": "=1",
                             "f": 0.5,
                             "g": [1, 2]}], "JSON")
    out = run("query", "ds", "--csv", sql)[0].decode()
    same(out, '"a","b","c","d","e","f","g"\r\n'
         '1,"x,""y",,12345678901234567890,"\\x3d1",0.5,"[1,2]"\r\n', "CSV")
    same(run("query", "ds",
             "SELECT 'a' AS n, 12 AS v UNION ALL SELECT 'bcd', NULL ORDER BY 1")[0].decode(),
         "n     v\na    12\nbcd   -\n", "a table")
    same(run("query", "ds", "-f", "-", stdin=b"SELECT 7 AS x")[0], b"x\n7\n", "standard input")
    many = run("query", "ds", "--csv", "SELECT * FROM range(300000)")[0]
    same(len(many.splitlines()), 300001, "many rows")
    head = subprocess.run(f"'{KYMO}' query ds 'FROM range(1000000)' | head -n 1", shell=True,
                          check=True,
                          capture_output=True)
    same(head.stderr, b"", "a reader that leaves is no failure")
    done = subprocess.run(f"'{KYMO}' query ds 'FROM range(1000)' >/dev/full", shell=True,
                          check=False, capture_output=True)
    want(done.returncode == 1 and b"standard output" in done.stderr, f"a full disk: {done}")
    same(query("ds", "CREATE TABLE t AS SELECT 5 AS x; CREATE VIEW v AS FROM t; SELECT x FROM v"),
         [{"x": 5}],
         "tables in memory")
    err = query("ds", "SELECT list(range) FROM range(100000000)", 1, "--memory", "64M")
    want("memory" in err.lower(), err)


run_tests(TESTS)

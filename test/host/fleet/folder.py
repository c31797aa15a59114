#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Folders of captures, and the folder of kymo export --parquet: where a capture is from by its
path, times on one axis, and many small files made few. folder.py [--soak] [NAME...] runs only some
tests; --soak kills more often."""
import glob
import json
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
from fleet import KYMO, ROOT, make, query, run, run_tests, same, views, want  # noqa: E402

TESTS = []
SOAK = "--soak" in sys.argv[1:]
GOLDEN = os.path.join(ROOT, "test/host/golden/virt-a64.kev")


def test(function):
    TESTS.append(function)
    return function


def added(folder, *words, status=0):
    out = run("export", "--parquet", folder, *words, status=status)[0].decode()
    return tuple(int(word) for word in out.replace(",", "").split() if word.isdigit())


# ---- captures by their paths --------------------------------------------------------


def origins(folder):
    return sorted(tuple(x.values()) for x in query(
        folder, "SELECT device, firmware, CAST(date AS VARCHAR) AS day, file FROM captures"))


@test
def a_folder_without_an_index():
    """Any folder: the first folder below it is the device, however deep the capture is."""
    for n, name in enumerate(("pump1/a.kev", "pump1/2026/01/b.kev", "valve/c.kev", "d.kev")):
        os.makedirs(os.path.dirname("any/" + name), exist_ok=True)
        make("any/" + name, 200, 10 + n, 1)
    os.makedirs("any/site/valve7")  # a folder of kymo collect within
    make("any/site/valve7/e.kev", 200, 14, 1)
    open("any/site/collect.jsonl", "w", encoding="ascii").close()
    open("any/pump1/notes.txt", "w", encoding="ascii").close()
    open("any/pump1/e.kev.kymo-123456.part", "w", encoding="ascii").close()
    same(added("any-set", "any/"), (5, 5), "captures")
    same([(x[0], x[3]) for x in origins("any-set")],
         [("made-up", "d.kev"), ("pump1", "a.kev"), ("pump1", "b.kev"), ("valve", "c.kev"),
          ("valve7", "e.kev")], "devices")
    os.mkdir("none")
    err = run("export", "--parquet", "any-set", "none", status=1)[1]
    want("none: has no captures" in err, err)


@test
def an_index_says_more_than_a_path():
    """What collect.jsonl has is as it says; another capture in the folder is there by its path."""
    os.makedirs("mixed/pump")
    make("mixed/pump/x.kev", 200, 20, 1)
    make("mixed/pump/y.kev", 200, 21, 1)
    with open("mixed/collect.jsonl", "w", encoding="ascii") as index:
        index.write('{"time":"2026-03-04T05:06:07Z","device":"indexed","what":"stored",'
                    '"file":"pump/x.kev","bytes":1}\n')
    same(added("mixed-set", "mixed"), (2, 2), "captures")
    same([(x[0], x[2], x[3]) for x in origins("mixed-set")],
         [("indexed", "2026-03-04", "x.kev"), ("pump", "2026-01-02", "y.kev")], "by index and path")
    added("ruled-set", "--path", "DEVICE", "mixed")
    same([x[0] for x in origins("ruled-set")], ["pump", "pump"], "a rule that is given")


@test
def rules_of_paths():
    os.makedirs("lab/2026-05-06/fw7/pump9")
    make("lab/2026-05-06/fw7/pump9/x.kev", 200, 30, 1)
    for rule, expected in (("DATE/FIRMWARE/DEVICE", ("pump9", "fw7", "2026-05-06")),
                           ("*/*/DEVICE", ("pump9", None, None)),
                           ("*/DEVICE", ("fw7", None, None)),
                           ("*/*/*/DEVICE.kev", ("x", None, None)),
                           ("*/DEVICE.kev", ("made-up", None, None)),
                           ("*/*/*/*/DEVICE", ("made-up", None, None))):
        shutil.rmtree("rules", ignore_errors=True)
        added("rules", "--path", rule, "lab")
        [have] = origins("rules")
        for ours, other in zip(have, expected):
            want(other in (None, ours), f"{rule}: {have}")
    shutil.rmtree("rules")
    added("rules", "--path", "*/*/FIRMWARE/DEVICE", "--device", "named",
          "lab/2026-05-06/fw7/pump9/x.kev")
    same(origins("rules")[0][:2], ("named", "fw7"), "a capture that is named itself")
    err = run("export", "--parquet", "rules", "--path", "*/DATE", "lab", status=1)[1]
    want("fw7 is no day" in err, err)
    for rule in ("", "/", "*", "device", "DEVICE/DEVICE", "DEVICE//DATE", "/DEVICE", "DEVICE/",
                 "DEVICE.kev/DATE"):
        err = run("export", "--parquet", "rules", "--path", rule, "lab", status=2)[1]
        want("is no rule" in err, f"{rule}: {err}")


# ---- times --------------------------------------------------------------------------

STATED = "4294963200 1767323045000000000"  # 2026-01-02 03:04:05 where make()'s captures begin


def second(text):
    return text if text is None else text[:19]


@test
def two_devices_on_one_axis():
    """Two captures whose clocks are stated: their events interleave as they were made."""
    base = 1767323045 * 10**9
    make("one.kev", 1500, 40, 1, f"wall=4294963200 {base}", cpus=1)
    make("two.kev", 1500, 41, 1, f"wall=4294963200 {base + 1_000_300}", cpus=1)
    for name in ("one", "two"):
        added("axis", "--device", name, name + ".kev")
    rows = query("axis", "SELECT device, ns, epoch_ns(time_utc) AS at FROM events "
                         "ORDER BY time_utc, device, n")
    # The clocks are stated 5 cycles of 1 us before the first events, where ns is 0.
    expected = sorted((base + 5000 + (1_000_300 if x["device"] == "two" else 0) + x["ns"],
                       x["device"]) for x in rows)
    same([(int(x["at"]), x["device"]) for x in rows], expected, "events by time")
    turns = sum(a["device"] != b["device"] for a, b in zip(rows, rows[1:]))
    want(turns > 50, f"the devices take turns {turns} times: too few to be a test")
    for table, ns in (("events", "ns"), ("states", "from_ns"), ("messages", "sent_ns"),
                      ("losses", "ns")):
        [row] = query("axis", f"SELECT count(*) FILTER (epoch_ns(t.time_utc) IS DISTINCT FROM "
                              f"epoch_ns(c.started) + t.{ns}) AS wrong, "
                              f"typeof(any_value(t.time_utc)) AS type "
                              f"FROM {table} t JOIN captures c USING (capture)")
        same(row, {"wrong": 0, "type": "TIMESTAMP_NS"}, table)


@test
def times_are_types():
    """recorded and booted can be compared and subtracted; the file's schema says what they are."""
    make("typed.kev", 100, 42, 1, "boot=Fri Jan  2 01:52:30 2026")
    added("typed", "typed.kev")
    same(query("typed", "SELECT typeof(recorded) AS a, typeof(booted) AS b, "
                        "recorded > booted AS c, date_diff('second', booted, recorded) AS d, "
                        "recorded = TIMESTAMP '2026-01-02 03:04:05' AS e FROM captures"),
         [{"a": "TIMESTAMP_NS", "b": "TIMESTAMP_NS", "c": True, "d": 4295, "e": True}], "types")
    [name] = glob.glob("typed/captures/*/*/*/*.parquet")
    schema = subprocess.run(["node", "-e", """
        const { DuckDBInstance } = require(process.argv[1]);
        (async () => {
            const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
            const rows = await duckdb.runAndReadAll(`SELECT name
                FROM parquet_schema('${process.argv[2]}')
                WHERE logical_type LIKE 'TimestampType%NANOS=NanoSeconds%' ORDER BY name`);
            console.log(rows.getRowsJson().flat().join(' '));
        })();""", os.path.join(ROOT, "build/query/node_modules/@duckdb/node-api"), name],
                            capture_output=True, check=True, text=True).stdout
    same(schema, "booted recorded started\n", "the Parquet file's own types")


@test
def a_time_that_is_not_known_is_null():
    """No clock, one that counts from 1970, a date of no form, a reset that the clock outlived."""
    day, boot = "2026-01-02 03:04:05", "2026-01-02 01:52:30"
    cases = [
        (["wall=" + STATED], (day, None, day, "stated")),
        (["boot=Fri Jan  2 01:52:30 2026"], (day, boot, "2026-01-02 03:04:04", "boot")),
        (["boot=Fri Jan  2 03:04:05 2026"], (day, day, None, None)),  # the clock is another boot's
        (["boot=Fri Jan  2 00:00:00 2026"], (day, "2026-01-02 00:00:00", None, None)),
        ([], (day, None, None, None)),
        (["date=Thu Jan  1 00:00:09 1970", "boot=Thu Jan  1 00:00:00 1970"], (None,) * 4),
        (["date=-", "boot=tomorrow", "wall=5 5"], (None,) * 4),
        (["date=Mon Jan  1 00:00:00 9998", "wall=4294963200"], (None,) * 4),
        (["foreign", "date=Fri Jan  2 03:04:05 2026"], (None,) * 4)]  # of an unknown time zone
    for n, (words, _) in enumerate(cases):
        os.makedirs(f"times/{n}")
        make(f"times/{n}/time.kev", 100, 43 + n, 1, *words)
    added("times-set", "times")
    have = query("times-set", "SELECT recorded, booted, started, clock, events, "
                              "(SELECT count(time_utc) FROM events e WHERE e.capture = c.capture "
                              "AND e.class <> 'CONTROL') "
                              "AS some FROM captures c ORDER BY device")
    for (words, expected), row in zip(cases, have):
        same((second(row["recorded"]), second(row["booted"]), second(row["started"]),
              row["clock"]), expected, f"{words}")
        same(row["some"], row["events"] if expected[2] else 0, f"{words}: events with a time")
    same(query("times-set", "SELECT sum(with_time) AS n FROM devices"), [{"n": 2}], "devices")


# ---- few files of many --------------------------------------------------------------


def tree(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder)
                  for at, _, names in os.walk(folder) for name in names)


def answers(folder):
    """The rows of each table and view."""
    names = views() + ["captures", "events", "states", "messages", "losses"]
    return sorted(run("query", "--json", folder, "; ".join(f"FROM {name}" for name in names))[0]
                  .splitlines())


def compacted(folder):
    out = run("export", "--parquet", folder, "--compact")[0].decode()
    first = out.splitlines()[0].replace(",", "")
    return tuple(int(word) for word in first.split() if word.isdigit())


@test
def compaction_changes_no_answer():
    """Captures of two devices on a day each become a file a table; twice is once; later captures
    are added to what is compact, and what is in a pack is known."""
    for n in range(8):
        os.makedirs(f"many/pump{n % 2}", exist_ok=True)
        make(f"many/pump{n % 2}/{n}.kev", 300, 60 + n, 1, *(["lossy"] if n % 3 == 0 else []))
    same(added("compact", "many"), (8, 8), "captures")
    before = answers("compact")
    same(compacted("compact"), (40, 10), "files")
    same(answers("compact"), before, "answers")
    names = [name for name in tree("compact") if name.endswith(".parquet")]
    same(len(names), 10, f"{names}")
    now = tree("compact")
    same(compacted("compact"), (10, 10), "twice")
    same(tree("compact"), now, "twice is once")
    same(added("compact", "many"), (0, 8), "what is in a pack is known")
    for n in range(2):
        make(f"many/pump0/later{n}.kev", 300, 70 + n, 1)
    same(added("compact", "many"), (2, 10), "later captures")
    before = answers("compact")
    same(compacted("compact"), (20, 10), "a pack and later captures")
    same(answers("compact"), before, "answers with later captures")
    added("compact-plain", "many")
    same(answers("compact-plain"), before, "as if there had been no compaction")
    out = run("export", "--parquet", "compact-plain", "--compact", "many")[0].decode()
    want("files: 50 before, 10 now" in out and "captures: 0 added, 10 in all" in out, out)
    want(not glob.glob("compact*/.staging-*"), "remains")


@test
def compaction_killed_at_any_time():
    """A kill leaves the old files or the new ones, for any reader of the folder: never both."""
    seed = int(os.environ.get("SEED", "0")) or random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    for n in range(6):
        os.makedirs(f"kill/d{n % 3}", exist_ok=True)
        make(f"kill/d{n % 3}/{n}.kev", 2000, 80 + n, 1)
    added("kill-plain", "kill")
    right = answers("kill-plain")
    [counts] = query("kill-plain", "SELECT (SELECT count(*) FROM events) AS events, "
                                   "(SELECT count(*) FROM captures) AS captures")
    began = time.monotonic()
    shutil.copytree("kill-plain", "kill-set")
    compacted("kill-set")
    whole = time.monotonic() - began
    for attempt in range(40 if SOAK else 8):
        if len(glob.glob("kill-set/*/*/*/*/*.parquet")) <= 15:
            shutil.rmtree("kill-set")
            shutil.copytree("kill-plain", "kill-set")
        sent = dice.choice([signal.SIGKILL, signal.SIGTERM])
        with subprocess.Popen([KYMO, "export", "--parquet", "kill-set", "--compact"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            time.sleep(dice.random() * whole)
            child.send_signal(sent)
            child.wait()
        says = f"SEED={seed}, attempt {attempt}"
        for table, count in counts.items():
            # As an engine that knows nothing of kymo: all files of the table.
            names = glob.glob(f"kill-set/{table}/*/*/*/*.parquet")
            same(query("kill-set", f"SELECT count(*) AS n FROM {table}"), [{"n": count}], says)
            same(rows_of(names), count, f"{says}: {table}, by another engine")
        if sent == signal.SIGTERM:
            want(not os.path.exists(f"kill-set/.staging-{child.pid}"), f"{says}: remains")
    same(compacted("kill-set")[1], 15, f"SEED={seed}: files in the end")
    same(answers("kill-set"), right, f"SEED={seed}: answers in the end")
    want(not glob.glob("kill-set/.staging-*"), f"SEED={seed}: remains in the end")


def rows_of(names):
    done = subprocess.run(["node", "-e", """
        const { DuckDBInstance } = require(process.argv[1]);
        (async () => {
            const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
            const names = process.argv.slice(2).map((name) => `'${name}'`);
            const rows = await duckdb.runAndReadAll(
                `SELECT count(*) FROM read_parquet([${names}])`);
            console.log(rows.getRowsJson()[0][0]);
        })();""", os.path.join(ROOT, "build/query/node_modules/@duckdb/node-api"), *names],
                          capture_output=True, check=True, text=True)
    return int(done.stdout)


@test
def compaction_on_a_full_disk():
    """A file that can't grow any more: a reason, and the old files stay."""
    for n in range(3):
        make(f"full{n}.kev", 6000, 86 + n, 1)
    added("full", *glob.glob("full*.kev"))
    before, names = answers("full"), tree("full")
    done = subprocess.run(["bash", "-c", f"ulimit -f 24; trap '' XFSZ; exec '{KYMO}' export "
                           "--parquet full --compact"], capture_output=True, check=False)
    want(done.returncode == 1 and b"File too large" in done.stderr, f"{done}")
    want(glob.glob("full/events/*/*/*/pack*") == [], "a pack of events")
    same([name for name in tree("full") if "/pack" not in name and "_ids" not in name], names,
         "files")
    same(answers("full"), before, "answers")


@test
def a_query_keeps_its_files():
    """kymo export --compact waits until the queries that have begun are over."""
    for n in range(3):
        make(f"w{n}.kev", 300, 90 + n, 1)
    added("waits", *glob.glob("w*.kev"))
    before = len(tree("waits"))
    sql = "SELECT count(*) AS n FROM events; SELECT count(*) AS n FROM range(%d) a, events b, " \
          "events c WHERE a.range + b.n + c.n < 0; SELECT count(*) AS n FROM messages"
    with subprocess.Popen([KYMO, "query", "--json", "waits", sql % 300], stdout=subprocess.PIPE,
                          text=True) as reader:
        reader.stdout.readline()  # it has begun
        with subprocess.Popen([KYMO, "export", "--parquet", "waits", "--compact"],
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              text=True) as child:
            says = child.stderr.readline()
            if reader.poll() is None:
                want("waiting for a kymo query" in says, says)
                same(len([x for x in tree("waits") if not x.startswith(".")]), before, "files")
            reader.communicate()
            same(reader.returncode, 0, "the query")
            child.communicate()
            same(child.returncode, 0, "the compaction")
    same(len([x for x in tree("waits") if x.endswith(".parquet")]), 5, "files in the end")


@test
def what_is_not_kymos_stays():
    """A file of somebody's in a day's folder: it stays, as does the folder. A pack without its list
    is refused, because its captures would be added again."""
    for n in range(2):
        make(f"s{n}.kev", 200, 95 + n, 1)
    added("strange", "s0.kev", "s1.kev")
    [day] = glob.glob("strange/events/*/*/*")
    open(day + "/notes.txt", "w", encoding="ascii").close()
    out, err = run("export", "--parquet", "strange", "--compact")
    want("notes.txt: is no file of kymo" in err and b"files: 10 before, 6 now" in out,
         f"{out} {err}")
    want(os.path.exists(day + "/notes.txt"), "it has gone")
    same(query("strange", "SELECT count(DISTINCT capture) AS n FROM events"), [{"n": 2}], "events")
    [ids] = glob.glob("strange/captures/*/*/*/_ids-*")
    os.remove(ids)
    err = run("export", "--parquet", "strange", "s0.kev", status=1)[1]
    want("_ids-" in err and "copy that file" in err, err)
    err = query("strange", "SELECT 1", 1)
    want("_ids-" in err and "copy that file" in err, err)


@test
def an_older_folder_is_refused():
    os.mkdir("older")
    with open("older/_kymo", "w", encoding="ascii") as mark:
        mark.write('{"kymo":"dataset","version":1}\n')
    make("o.kev", 100, 99, 1)
    for words in (["export", "--parquet", "older", "o.kev"], ["query", "older", "SELECT 1"],
                  ["export", "--parquet", "older", "--compact"]):
        err = run(*words, status=1)[1]
        want("layout version 1" in err and
             "export its captures again into a new folder" in err, err)


run_tests(TESTS)

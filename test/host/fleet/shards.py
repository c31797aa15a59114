#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""kymo load: two servers of ClickHouse on loopback are the shards of a cluster, and each view says
what DuckDB says of the same captures. shards.py [MILLIONS] has so many million events of 200
devices; without it some thousands of 10 devices, and each table is compared row by row. Without a
server's program the tests are skipped, and a line says why.

Also: what is loaded twice is there once, also by two loads at once and after kills; a table that
kymo has not made is not touched; what is refused."""
import glob
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tool")]
# pylint: disable=wrong-import-position
import patience  # noqa: E402
import fetched  # noqa: E402
import temporary  # noqa: E402
from fleet import (KYMO, ROOT, Failed, collection, make, query, run, same,  # noqa: E402
                   views, want)

MILLIONS = float(sys.argv[1]) if len(sys.argv) > 1 else 0
CONFIG = """<yandex>
<logger><level>warning</level><log>{at}/server.log</log><errorlog>{at}/error.log</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{at}/data/</path><tmp_path>{at}/tmp/</tmp_path><users_config>{at}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>100000000</mark_cache_size><timezone>UTC</timezone>
<remote_servers><lab>{shards}</lab></remote_servers></yandex>"""
SHARD = "<shard><replica><host>127.0.0.1</host><port>{}</port></replica></shard>"
USERS = """<yandex><profiles><default><max_memory_usage>6000000000</max_memory_usage></default>
</profiles><users>
<default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default>
<guarded><password>let "me\\ in</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></guarded>
</users><quotas><default/></quotas></yandex>"""
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def server_binary():
    """Debian's, without its package: that one starts a server of the machine's when it is
    installed. scripts/setup.sh installs the libraries."""
    folder = os.path.join(ROOT, "build/clickhouse")
    binary = os.path.join(folder, "usr/sbin/clickhouse-server")
    if os.path.exists("/usr/sbin/clickhouse-server"):
        return "/usr/sbin/clickhouse-server"
    if not os.path.exists(binary):
        os.makedirs(folder, exist_ok=True)
        for command in (["apt-get", "-qq", "download", "clickhouse-server"],
                        ["sh", "-c", "dpkg-deb -x clickhouse-server_*.deb ."]):
            try:
                done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
            except FileNotFoundError as error:
                skip(f"{error.filename} is not installed, and gets clickhouse-server")
            if done.returncode != 0:
                skip(f"clickhouse-server is not available; apt-get update may help: "
                     f"{done.stderr.decode()[:500]}")
    done = subprocess.run(["ldd", binary], capture_output=True, check=False, text=True)
    lacks = [line.split()[0] for line in done.stdout.splitlines() if "not found" in line]
    if lacks:
        skip(f"clickhouse-server's libraries are not installed ({', '.join(lacks)}): "
             "scripts/setup.sh check installs them")
    return binary


def skip(reason):
    print(f"SKIPPED: {reason}")
    print(f"0 passed, 0 failed, {len(TESTS)} skipped")
    sys.exit(0)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Servers:
    """Two, whose cluster is called lab."""

    def __init__(self, place, binary):
        ports = free_ports(4)
        self.http, tcp = ports[:2], ports[2:]
        self.running = []
        for n in range(2):
            at = os.path.join(place, f"server{n}")
            os.makedirs(at)
            with open(at + "/config.xml", "w", encoding="ascii") as file:
                file.write(CONFIG.format(at=at, http=self.http[n], tcp=tcp[n],
                                         shards="".join(SHARD.format(port) for port in tcp)))
            with open(at + "/users.xml", "w", encoding="ascii") as file:
                file.write(USERS)
            self.running.append(subprocess.Popen(
                [binary, "--config-file=" + at + "/config.xml"], cwd=at,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        for n in range(2):
            self.wait(n)

    def wait(self, n):
        end = time.monotonic() + patience.seconds(60)
        while True:
            try:
                return self.ask(n, "SELECT 1")
            except OSError as error:
                if self.running[n].poll() is not None or time.monotonic() > end:
                    raise Failed(f"clickhouse-server does not start: {error}") from None
                time.sleep(0.1)

    def ask(self, n, sql):
        """Rows of server n, each a dictionary."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.http[n]}/", sql.encode())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=patience.seconds(600)) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            raise Failed(f"{sql}: {error.read().decode()[:500]}") from None
        return [json.loads(line) for line in text.splitlines()] if "JSONEachRow" in sql else text

    def url(self, database):
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.http)
        return f"clickhouse://{hosts}/{database}?cluster=lab"

    def stop(self):
        for each in self.running:
            each.kill()
            each.wait()


def loaded(servers, database, *captures):
    out = run("load", servers.url(database), *captures, timeout=patience.seconds(1200))[0].decode()
    return tuple(int(word) for word in out.replace(",", "").split() if word.isdigit())


TABLES = "captures", "losses", "events", "states", "messages"
TIMES = "recorded", "booted", "started", "time_utc"


def asked(name, rows):
    """The columns, for DuckDB: ClickHouse has the tables' times as ns since 1970."""
    times = TIMES if name in TABLES else ()
    columns = list(rows[0]) if rows else ["*"]
    return ", ".join(f"epoch_ns({x}) AS {x}" if x in times else x for x in columns)


def rows_of(rows):
    """Comparable: ClickHouse's JSON has integers of 64 bits as texts."""
    return sorted((tuple(None if value is None else str(value) for value in row.values())
                   for row in rows), key=repr)


@test
def views_say_what_duckdb_says(servers):
    devices = 200 if MILLIONS else 10
    events = int(MILLIONS * 1.94e6 / devices) if MILLIONS else 1500
    collection("lab", devices, events, 5 if MILLIONS else 3)
    same(loaded(servers, "fleet", "lab"), (devices, devices), "captures")
    run("export", "--parquet", "set", "lab", timeout=patience.seconds(1200))
    same(loaded(servers, "fleet", "lab"), (0, devices), "twice adds nothing")
    parts = [int(servers.ask(n, "SELECT count() FROM fleet.captures_local")) for n in range(2)]
    want(min(parts) > 0 and sum(parts) == devices, f"captures of the shards: {parts}")
    total = query("set", "SELECT count(*) AS n FROM events")[0]["n"]
    print(f"{total / 1e6:.2f} M events, captures by shard {parts}")
    names = views() + list(TABLES[:2] if MILLIONS else TABLES)
    for name in names:
        first = query("set", f"FROM {name} LIMIT 1")
        ours = query("set", f"SELECT {asked(name, first)} FROM {name}")
        columns = ", ".join(first[0]) if first else "*"
        for n in range(2):
            theirs = servers.ask(n, f"SELECT {columns} FROM fleet.{name} FORMAT JSONEachRow")
            same(rows_of(theirs), rows_of(ours), f"{name}, asked on server {n}")
        want(ours or name == "panics", f"{name} is empty")
    print(f"{len(names)} views and tables are equal, asked on each server")


@test
def two_at_once_and_killed(servers):
    """Each capture counts once, whatever was begun: rows of what was given up no view sees."""
    seed = int(os.environ.get("SEED", "0")) or random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    for n in range(3):
        make(f"k{n}.kev", 3000, 20 + n, 1)
    captures = glob.glob("k*.kev")
    make("first.kev", 100, 19, 1)
    loaded(servers, "killed", "first.kev")  # the tables are there
    for attempt in range(20 if MILLIONS else 3):
        children = [subprocess.Popen([KYMO, "load", servers.url("killed"), *captures],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    for _ in range(2)]
        time.sleep(2 + dice.random() * 3)
        for child in children:
            child.send_signal(dice.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
            child.wait()
        bad = servers.ask(0, "SELECT capture, says, has FROM (SELECT capture, events AS says FROM "
                          "killed.captures) ANY INNER JOIN (SELECT capture, count() AS has FROM "
                          "killed.events WHERE class <> 'CONTROL' GROUP BY capture) USING capture "
                          "WHERE says <> has FORMAT JSONEachRow")
        same(bad, [], f"SEED={seed}, attempt {attempt}: a part of a capture")
    children = [subprocess.Popen([KYMO, "load", servers.url("killed"), *captures],
                                 stdout=subprocess.PIPE) for _ in range(2)]
    for child in children:
        child.communicate()
        same(child.returncode, 0, f"SEED={seed}: two at once")
    want(not glob.glob(os.path.join(temporary.PLACE, "kymo-load-*")), f"SEED={seed}: rows of kills")
    run("export", "--parquet", "killed", "first.kev", *captures)
    for name in ("devices", "events_by_firmware", "latency_by_device"):
        same(rows_of(servers.ask(1, f"SELECT * FROM killed.{name} FORMAT JSONEachRow")),
             rows_of(query("killed", f"FROM {name}")), f"SEED={seed}: {name}")


@test
def views_follow_the_cluster(servers):
    """One server, then two, then one again: the views are those of the last load."""
    url = f"clickhouse://127.0.0.1:{servers.http[0]}/turns"
    make("turn.kev", 300, 80, 1)
    for at, reads in ((url, "local"), (servers.url("turns"), "all"), (url, "local")):
        run("load", at, "turn.kev")
        shown = servers.ask(0, "SHOW CREATE TABLE turns.events")
        want(f"turns.events_{reads}" in shown, f"{at}: {shown}")
    marks = servers.ask(0, "SELECT name FROM system.tables WHERE database = 'turns' AND "
                        "name LIKE 'kymo%'")
    same(len(marks.splitlines()), 1, f"marks: {marks}")


@test
def times_are_ns_since_1970(servers):
    """ClickHouse 18.16 has no finer type than a second: a known time, and one that is not known."""
    make("wall.kev", 300, 81, 1, "wall=4294963205 1767323045000000000")
    make("none.kev", 300, 82, 1)
    run("load", servers.url("times"), "--device", "wall", "wall.kev")
    run("load", servers.url("times"), "--device", "none", "none.kev")
    have = servers.ask(1, "SELECT device, started, toString(toDateTime(intDiv(recorded, "
                       "1000000000), 'UTC')) AS day FROM times.captures ORDER BY device "
                       "FORMAT JSONEachRow")
    same([(x["device"], x["started"], x["day"]) for x in have],
         [("none", None, "2026-01-02 03:04:05"),
          ("wall", "1767323045000000000", "2026-01-02 03:04:05")], "times")
    same(servers.ask(0, "SELECT count() FROM times.events WHERE device = 'wall' AND "
                     "time_utc <> 1767323045000000000 + ns"), "0\n", "times of events")


@test
def tables_of_an_older_kymo(servers):
    """Other columns: refused by name, and nothing is changed."""
    servers.ask(0, "CREATE DATABASE older")
    servers.ask(0, "CREATE TABLE older.captures_local (device String, recorded String) "
                "ENGINE = Log")
    make("older.kev", 300, 83, 1)
    err = run("load", f"clickhouse://127.0.0.1:{servers.http[0]}/older", "older.kev", status=1)[1]
    want("captures_local of another version of kymo: name another database" in err, err)
    same(servers.ask(0, "SELECT count() FROM older.captures_local"), "0\n", "rows")


@test
def names_and_passwords(servers):
    """Hostile names of devices, and a user with a password that no process list shows."""
    os.environ["CLICKHOUSE_PASSWORD"] = 'let "me\\ in'
    make("n.kev", 300, 70, 1)
    name = "it's \"x\"\\N,\n%41\x1b"
    run("load", f"clickhouse://guarded@127.0.0.1:{servers.http[0]}/names", "--device", name,
        "n.kev")
    run("export", "--parquet", "names", "--device", name, "n.kev")
    same(rows_of(servers.ask(0, "SELECT device FROM names.devices FORMAT JSONEachRow")),
         rows_of(query("names", "SELECT device FROM devices")), "a hostile name")
    os.environ["CLICKHOUSE_PASSWORD"] = "wrong"
    err = run("load", f"clickhouse://guarded@127.0.0.1:{servers.http[0]}/names", "n.kev",
              status=1)[1]
    want("assword" in err, err)
    del os.environ["CLICKHOUSE_PASSWORD"]


@test
def refusals(servers):
    host = f"127.0.0.1:{servers.http[0]}"
    servers.ask(0, "CREATE DATABASE mine")
    servers.ask(0, "CREATE TABLE mine.devices (x Int64) ENGINE = Log")
    free = free_ports(1)[0]
    for url, status, says in (
            (f"clickhouse://{host}/mine", 1, "table devices"),
            (f"clickhouse://127.0.0.1:{free}/x", 1, "connect"),
            (f"clickhouse://nobody@{host}/x", 1, "nobody"),
            (f"clickhouse://{host}/x?cluster=lab", 1, "2 shards"),
            (f"clickhouse://{host},{host}/x?cluster=other", 1, "0 shards"),
            (f"clickhouse://{host},{host}/x", 2, "cluster=NAME"),
                              (f"clickhouse://{host}", 2, "/DB"),
            (f"clickhouse://{host}/a-b", 2, "database"), (f"clickhouse://{host}/", 2, "database"),
            (f"http://{host}/x", 2, "clickhouse://"), (f"clickhouse://{host}/x?a=b", 2, "cluster"),
            ("clickhouse:///x", 2, "HOST"), (f"clickhouse://a b@{host}/x", 2, "user")):
        err = run("load", url, "n.kev", status=status)[1]
        want(err.startswith("kymo: ") and says in err, f"{url}: {err}")
    same(servers.ask(0, "SELECT name FROM system.tables WHERE database = 'mine'"), "devices\n",
         "a database of others")
    err = run("load", f"clickhouse://{host}/x", status=2)[1]
    want("which captures" in err, err)
    open("empty.kev", "wb").close()
    out = run("load", f"clickhouse://{host}/x", "empty.kev", "n.kev", status=1)[0]
    same(out, b"captures: 1 added, 1 in all\n", "one is bad, the other counts")


def main():
    subprocess.run(["make", "-s", "build/kymo", "build/tools/mkcapture"], cwd=ROOT, check=True)
    binary = server_binary()
    fetched.duckdb()
    passed = failed = 0
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as tmp:
        os.chdir(tmp)
        servers = Servers(tmp, binary)
        try:
            for function in TESTS:
                begun = time.monotonic()
                try:
                    function(servers)
                    passed += 1
                except (Failed, AssertionError, OSError, ValueError, KeyError, IndexError,
                        subprocess.TimeoutExpired) as error:
                    failed += 1
                    print(f"FAIL {function.__name__}: {type(error).__name__} {error}")
                if os.environ.get("V"):
                    print(f"{function.__name__}: {time.monotonic() - begun:.1f} s")
        finally:
            servers.stop()
        os.chdir(ROOT)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()

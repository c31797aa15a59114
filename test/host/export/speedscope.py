# SPDX-License-Identifier: BSD-2-Clause
"""`kymo export --speedscope` against the rules of speedscope's file format (the members that its
schema knows, with their types; events in order, frames that nest), and against the slices of
--chrome, which test/host/export/chrome.py compares with the capture."""
import json
import re
from collections import defaultdict

import chrome
from common import export, lines, same, want

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
MEMBERS = {"$schema": str, "exporter": str, "name": str, "kymo": dict, "profiles": list,
           "shared": dict}
PROFILE = {"type": str, "name": str, "unit": str, "startValue": int, "endValue": int,
           "events": list}


def members(value, expected, what):
    same(list(value), list(expected), f"members of {what}")
    for name, kind in expected.items():
        same(type(value[name]), kind, f"{what}: {name}")


def load(raw):
    raw.decode("ascii")
    trace = json.loads(raw, parse_constant=chrome.refuse, object_pairs_hook=chrome.no_twins)
    members(trace, MEMBERS, "the file")
    same(trace["$schema"], SCHEMA, "schema")
    members(trace["shared"], {"frames": list}, "shared")
    frames = trace["shared"]["frames"]
    for frame in frames:
        members(frame, {"name": str}, "a frame")
        want(frame["name"], "a frame without a name")
    same(len({f["name"] for f in frames}), len(frames), "a frame comes twice")
    want(trace["profiles"], "no profile")
    for profile in trace["profiles"]:
        members(profile, PROFILE, "a profile")
        same([profile["type"], profile["unit"]], ["evented", "nanoseconds"], "what it is")
        check_profile(profile, frames)
    return trace


def check_profile(profile, frames):
    last, stack = profile["startValue"], []
    for event in profile["events"]:
        members(event, {"type": str, "frame": int, "at": int}, "an event")
        want(last <= event["at"] <= profile["endValue"], f"{profile['name']}: time of {event}")
        want(0 <= event["frame"] < len(frames), f"no frame of {event}")
        last = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            same(event["type"], "C", "what it does")
            want(stack and stack.pop() == event["frame"], f"{event} closes what is not open")
    same(stack, [], f"{profile['name']}: frames that stay open")


def check(capture, *options, status=0):
    trace = load(export("speedscope", capture, *options, status=status))
    have = lines(capture, *options, status=status)
    records = chrome.load(export("chrome", capture, *options, status=status))["traceEvents"]
    same(trace["kymo"], {k: v for k, v in have[-1].items() if k != "kind"}, "the end")
    names = [f["name"] for f in trace["shared"]["frames"]]
    ours, runs, losses = defaultdict(list), set(), []
    for profile in trace["profiles"]:
        events = [(e["type"], names[e["frame"]], e["at"]) for e in profile["events"]]
        cpu = re.fullmatch(r"CPU (\d+)(?:, lost)?", profile["name"])
        if cpu or profile["name"] == "no CPU in particular":
            for (_, name, start), (_, _, end) in zip(events[::2], events[1::2]):
                if name.startswith("LOST: "):
                    losses.append(name[6:])
                else:
                    ids = re.fullmatch(r".*\((-?\d+)/(-?\d+)\)", name, re.S)
                    runs.add((int(cpu[1]), int(ids[1]), int(ids[2]), start, end))
        elif events:
            thread = re.fullmatch(r".*\((-?\d+)/(-?\d+)\)", profile["name"], re.S)
            interrupts = re.fullmatch(r"CPU (\d+), interrupts", profile["name"])
            track = (int(thread[1]), int(thread[2])) if thread else \
                (chrome.CPUS, chrome.INTERRUPT + int(interrupts[1]))
            ours[track] += [("B" if kind == "O" else "E", at) for kind, _, at in events]
    slices = defaultdict(list)
    for r in records:
        if r["ph"] in "BE":
            slices[(r["pid"], r["tid"])].append((r["ph"], r["ts"]))
    same({k: v for k, v in ours.items() if v}, dict(slices), f"{capture}: slices")
    same(runs, {(r["tid"] - chrome.RUN, r["args"]["pid"], r["args"]["tid"], r["ts"],
                 r["ts"] + r["dur"])
                for r in records if r["ph"] == "X" and r["cat"] == "run"}, "runs")
    same(sorted(losses), sorted(x["text"] for x in have if x["kind"] == "loss"), "losses")

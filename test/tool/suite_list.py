# SPDX-License-Identifier: BSD-2-Clause
"""The list scripts/suites as data: which suites there are, in which tier, and what make must build
for each. scripts/check runs them, scripts/check-where holds a page against them."""
import collections
import fnmatch
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = "scripts/suites"
# Each tier has the suites of those before it, too.
TIERS = ("quick", "check", "all")
SOAK = ("soak", "once")
SHORT = {"kymo": "build/kymo", "asan": "build/kymo-asan"}
VARIANTS = ("-debug", "-slots64", "")
# What a command names itself need not stand in its column NEEDS.
NAMED = re.compile(r"\bbuild/(?:(?:unit|tools|bench)/[\w.-]+|kymo(?:-asan)?)(?=\s|$)")

Suite = collections.namedtuple("Suite", "tier cpus seconds topic name needs command")


class Units:
    """The unit test programs, which make knows."""

    def __init__(self):
        self.programs = make_says("list-unit")
        self.taken = set()

    def matching(self, patterns):
        found = [p for p in self.programs
                 if any(fnmatch.fnmatch(os.path.basename(p), one) for one in patterns.split(","))]
        if not found:
            sys.exit(f"{LIST}: no unit program is called {patterns}")
        twice = self.taken & set(found)
        if twice:
            sys.exit(f"{LIST}: two topics have {min(twice)}")
        self.taken |= set(found)
        return found

    def left(self):
        return sorted(set(self.programs) - self.taken)


def make_says(goal):
    """What a goal prints of those things that `make check` and `make check-all` build."""
    return subprocess.run(["make", "-s", "CHECKED=1", goal], check=True, capture_output=True,
                          text=True, cwd=ROOT).stdout.split()


def needs_of(words, command):
    named = [SHORT.get(p, p) for p in NAMED.findall(command)]
    words = [] if words == "-" else words.split(",")
    return tuple(dict.fromkeys(words + named))


def expanded(words, topic, boards, units):
    """The suites of a line of the list."""
    tier, cpus, seconds, name, needs, command = words
    if tier not in TIERS + SOAK:
        sys.exit(f"{LIST}: {tier}: not one of {' '.join(TIERS + SOAK)}")
    wanted = None if cpus == "all" else float(cpus)
    if name.startswith("UNIT:"):
        each = [("unit-" + os.path.basename(unit), needs, command.replace("UNIT", unit))
                for unit in units.matching(name.removeprefix("UNIT:"))]
    elif "BOARD" in name:
        each = [(name.replace("BOARD", b), needs.replace("BOARD", b), command.replace("BOARD", b))
                for b in boards]
    else:
        each = [(name, needs, command)]
    return [Suite(tier, wanted, float(seconds), topic, n, needs_of(need, c), c)
            for n, need, c in each]


def read():
    """All suites. One that has a line of its own is not among those of a line for many."""
    boards, topic, found, units = [], None, [], Units()
    with open(os.path.join(ROOT, LIST), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            words = line.split(None, 5)
            if line.startswith("boards "):
                boards = words[1:]
            elif line.startswith("topic "):
                topic = words[1].rstrip(":")
            elif words and not line.startswith("#"):
                if len(words) != 6 or topic is None:
                    sys.exit(f"{LIST}:{number}: a suite is TIER CPUS SECONDS NAME NEEDS COMMAND, "
                             "below a topic")
                words[5] = words[5].strip()
                found.append((name_is_own(words), expanded(words, topic, boards, units)))
    if units.left():
        sys.exit(f"{LIST}: no topic has {units.left()[0]}")
    return without_overridden(found)


def name_is_own(words):
    return not words[3].startswith("UNIT:")


def without_overridden(lines):
    own = {(s.tier, s.name) for is_own, suites in lines for s in suites if is_own}
    found = [s for is_own, suites in lines for s in suites
             if is_own or (s.tier, s.name) not in own]
    twice = [n for n, c in collections.Counter((s.tier, s.name) for s in found).items() if c > 1]
    if twice:
        sys.exit(f"{LIST}: two suites of {twice[0][0]} are named {twice[0][1]}")
    return found


def of_tier(suites, tier):
    """Those of a tier and of the ones before it. A suite that has lines in several tiers runs as
    the line of the last one says."""
    last = {}
    for suite in suites:
        if suite.tier in TIERS[:TIERS.index(tier) + 1]:
            before = last.get(suite.name)
            if not before or TIERS.index(before.tier) < TIERS.index(suite.tier):
                last[suite.name] = suite
    return list(last.values())


# ---- what make must build ------------------------------------------------------------------------

def boards_here():
    return sorted(name for name in os.listdir(os.path.join(ROOT, "boards"))
                  if os.path.exists(os.path.join(ROOT, "boards", name, "board.mk")))


def folder_of(word, boards):
    """(folder below build/, what of it) if the word names something of a board, else None."""
    folder, _, rest = word.partition("/")
    if rest and any(folder == board + variant for board in boards for variant in VARIANTS):
        return folder, rest
    return None


def asked_of_boots(suite):
    """What the boots of a suite need: test/board/run.py knows their images."""
    asked = " && ".join(part + " --needs" for part in suite.command.split("&&")
                        if "test/board/run.py" in part)
    return subprocess.run(["sh", "-c", asked], check=True, capture_output=True, text=True,
                          cwd=ROOT).stdout.split()


def all_needs(suite):
    return [word for need in suite.needs
            for word in (asked_of_boots(suite) if need == "boots" else [need])]


def goals_of(suites):
    """(goals, variables) for make, so that it builds all that these suites need, and
    {suite's name: the goals that it can't do without}."""
    boards, images, goals, of_suite = boards_here(), {}, {}, {}
    for suite in suites:
        mine = of_suite.setdefault(suite.name, set())
        for word in all_needs(suite):
            of_board = folder_of(word, boards)
            if of_board and of_board[1] != "*":
                images.setdefault(of_board[0], {})[of_board[1]] = True
                mine.add(f"images-of-{of_board[0]}")
            elif of_board:
                mine.add(f"board-{of_board[0]}")
            elif word in SHORT:
                mine.add(SHORT[word])
            elif "/" not in word or not os.path.exists(os.path.join(ROOT, word)) or \
                    word.startswith("build/"):
                mine.add(word if word.startswith("build/") or "/" not in word else "build/" + word)
        goals.update(dict.fromkeys(sorted(mine)))
    variables = [f"IMAGES_OF_{folder}={' '.join(names)}" for folder, names in images.items()]
    return list(goals), variables, of_suite


def files_of(suite):
    """The files and folders by whose contents one sees that a quick suite has nothing new to say,
    or None if only the whole tree can tell."""
    files, boards = [], boards_here()
    for word in all_needs(suite):
        of_board = folder_of(word, boards)
        if of_board:
            files += [path for path in (f"build/{of_board[0]}/{of_board[1]}.elf",
                                        f"build/{of_board[0]}/test-images/{of_board[1]}.elf",
                                        f"build/{of_board[0]}/qemu.args")
                      if os.path.exists(os.path.join(ROOT, path))]
        else:
            files.append(SHORT.get(word, word))
    is_whole = any(path.startswith("build/unit/") or path.endswith(".elf") for path in files)
    return files if is_whole else None

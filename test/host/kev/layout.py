#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""layout.py KEV.H: lines for test/host/kev/layout.c, one for each member and constant of the
header."""
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
for name, body in re.findall(r"^struct (\w+) \{(.*?)^\};", text, re.M | re.S):
    for members in re.findall(r"[\w ]+?[ ]((?:\*?\w+(?:, )?)+);", body):
        for member in members.split(","):
            print(f"    MEMBER({name}, {member.strip(' *')});")
for body in re.findall(r"^enum \w+ \{(.*?)^\};", text, re.M | re.S):
    for name in re.findall(r"\b(KEV_\w+)", body):
        print(f"    VALUE({name});")
for name in re.findall(r"^#define (KEV_[A-Z]+) ", text, re.M):
    if name != "KEV_VERSION_MINOR":
        print(f"    VALUE({name});")

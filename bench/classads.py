"""The ClassAd language beside the wheel's C++, on the ads of a large pool.

    python bench/classads.py [--ads N] [--json FILE]

10,000 machine ads of 180 attributes, of which many expressions are alike and most numbers are not,
and 10,000 job ads are parsed, printed, evaluated and matched by Kettle and, where
$KETTLE_WHEEL_PYTHON names an interpreter with the PyPI wheel htcondor, by its classad2 in turn.
Only the ratios mean anything: the wheel is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

ATTRIBUTES = 180
# What has to be reached, as a ratio to the wheel.
TARGETS = {
    "parse old": 2.0,
    "parse old, text kept": 2.0,
    "parse new": 0.7,
    "print old": 0.7,
    "print new": 0.7,
    "print JSON": 0.7,
    "evaluate 20 expressions": 3.0,
    "symmetric match": 5.0,
    "parse and -af of 3": 0.5,
}
MOST_BYTES = 12_000
# Ads that come before the memory of a store is looked at.
_LESSONS = 20
_ROUNDS = 5
# Both languages in turn, so that what else the machine does meets both.
_RUNS = 4
_BATCH = 250

EXPRESSIONS = [
    "Memory",
    "Cpus * 2 + 1",
    'Arch == "X86_64" && OpSys == "LINUX"',
    "TotalMemory - Memory > 1024",
    "LoadAvg < 0.3 && KeyboardIdle > 15 * 60",
    "TARGET.RequestMemory <= MY.Memory && TARGET.RequestCpus <= MY.Cpus",
    "ifThenElse(Cpus > 4, Memory / Cpus, Memory)",
    "(CurrentLoad ?: 0.0) + LoadAvg",
    "isUndefined(NoSuchAttribute)",
    'State =?= "Claimed" || Activity =!= "Busy"',
    'strcat(Name, "/", State)',
    'regexp("^slot[0-9]+@", Name)',
    'member("gpu", { "cpu", "gpu", "disk" })',
    'stringListMember("HasDocker", StarterAbilityList)',
    "Number10 > 100 && Number11 > 100 || Number12 > 100",
    "floor(Disk / 1024.0)",
    "toLower(Machine)",
    "size(Name) > 8",
    "TARGET.Owner =!= undefined && START",
    "10 * Cpus + KFlops / 1000000.0 - (TARGET.NiceUser =?= true ? 100 : 0)",
]
_SHARED = {
    "Requirements": "(START) && (WithinResourceLimits) && (TARGET.RequestMemory <= MY.Memory)",
    "START": "(KeyboardIdle > 15 * 60 || LoadAvg - CurrentLoad <= 0.3) && "
    "TARGET.Owner =!= undefined",
    "WithinResourceLimits": "TARGET.RequestCpus <= MY.Cpus && TARGET.RequestDisk <= MY.Disk",
    "Rank": "10.0 * (TARGET.Department =?= MY.Department)",
    "Arch": '"X86_64"',
    "OpSys": '"LINUX"',
    "OpSysAndVer": '"Debian12"',
    "State": '"Unclaimed"',
    "Activity": '"Idle"',
    "MyType": '"Machine"',
    "TargetType": '"Job"',
    "StarterAbilityList": '"HasFileTransfer,HasVM,HasDocker,HasJobDeferral,HasTDP,HasReconnect"',
    "CondorVersion": '"$CondorVersion: 25.14.1 2026-10-16 BuildID: 1 $"',
    "Department": '"physics"',
    "HasFileTransfer": "true",
    "CurrentLoad": "0.0",
    "IsValidCheckpointPlatform": "TARGET.JobUniverse =!= 1 || MY.CheckpointPlatform =!= undefined",
    "PREEMPT": 'SlotType == "Dynamic" && (TotalJobRunTime > 3600 * 24) && LoadAvg > 0.8',
    "MaxJobRetirementTime": "ifThenElse(TARGET.JobPrio > 10, 7200, 3600)",
}


def machine_lines(number: int, dice: random.Random) -> list[str]:
    """Return the lines of one slot's ad in old syntax."""
    texts = {
        "Name": f'"slot{number % 16}@node{number:05}.cluster.example.org"',
        "Machine": f'"node{number:05}.cluster.example.org"',
        "MyAddress": f'"<10.1.{number // 250}.{number % 250}:9618?addrs=10.1.0.1-9618&alias=n>"',
        "Cpus": str(dice.choice([1, 4, 8, 16])),
        "Memory": str(dice.randrange(1024, 65536)),
        "TotalMemory": str(dice.randrange(65536, 262144)),
        "Disk": str(dice.randrange(10**6, 10**9)),
        "KFlops": str(dice.randrange(10**6, 2 * 10**6)),
        "LoadAvg": f"{dice.random() * 0.3:.6f}",
        "KeyboardIdle": str(dice.randrange(900, 10**6)),
        **_SHARED,
    }
    for each in range(40):
        texts[f"Policy{each}"] = f"Number{each} > {each} && (TARGET.Want{each} ?: 0) =!= {each}"
    each = 0
    while len(texts) < ATTRIBUTES:
        kind = each % 4
        text = str(dice.randrange(10**9))
        if kind == 2:
            text = f"{dice.random() * 1000:.6f}"
        elif kind == 3:
            text = f'"text {each}"'
        texts[f"Number{each}"] = text
        each += 1
    return [f"{name} = {text}" for name, text in texts.items()]


def job_lines(number: int, dice: random.Random) -> list[str]:
    """Return the lines of one job's ad in old syntax."""
    texts = {
        "ClusterId": str(number // 10),
        "ProcId": str(number % 10),
        "Owner": f'"user{number % 37}"',
        "Cmd": '"/home/user/bin/simulate"',
        "Args": f'"--seed {number} --events {dice.randrange(10**6)}"',
        "RequestMemory": str(dice.choice([128, 512, 2048])),
        "RequestDisk": "ifThenElse(DiskUsage =!= undefined, DiskUsage, 1000)",
        "DiskUsage": str(dice.randrange(10**3, 10**5)),
        "RequestCpus": "1",
        "JobPrio": str(dice.randrange(20)),
        "Requirements": '(TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && '
        "(TARGET.Disk >= RequestDisk) && (TARGET.Memory >= RequestMemory) && "
        "(TARGET.HasFileTransfer)",
        "Rank": "TARGET.KFlops / 1000.0 + TARGET.Memory",
        "JobUniverse": "5",
        "JobStatus": "1",
        "QDate": str(1_790_000_000 + number),
    }
    texts.update({f"Job{each}": str(dice.randrange(10**9)) for each in range(60)})
    return [f"{name} = {text}" for name, text in texts.items()]


class Language(Protocol):
    """What is measured, by Kettle or by the wheel."""

    def parse_old(self, text: str) -> Any: ...
    def parse_old_lazily(self, text: str) -> Any: ...
    def parse_new(self, text: str) -> Any: ...
    def parse_many(self, text: str) -> Iterator[Any]: ...
    def print_old(self, ad: Any) -> str: ...
    def print_new(self, ad: Any) -> str: ...
    def print_json(self, ad: Any) -> str: ...
    def expression(self, text: str) -> Any: ...
    def evaluate(self, expression: Any, ad: Any, target: Any) -> object: ...
    def value(self, ad: Any, name: str) -> object: ...
    def match(self, one: Any, other: Any) -> bool: ...


def kettle() -> Language:
    """Return Kettle's."""
    from kettle.classad import (
        parse_ad,
        parse_ads,
        parse_expression,
        parse_old_ad,
        symmetric_match,
        unparse,
    )
    from kettle.classad.forms_json import to_json

    class Ours:
        parse_old = staticmethod(parse_old_ad)
        parse_new = staticmethod(parse_ad)
        parse_many = staticmethod(parse_ads)
        print_new = staticmethod(unparse)
        print_json = staticmethod(to_json)
        expression = staticmethod(parse_expression)
        match = staticmethod(symmetric_match)

        @staticmethod
        def parse_old_lazily(text: str) -> Any:
            return parse_old_ad(text, check=False)

        @staticmethod
        def print_old(ad: Any) -> str:
            return unparse(ad, old=True)

        @staticmethod
        def evaluate(expression: Any, ad: Any, target: Any) -> object:
            return expression.evaluate(ad, target)

        @staticmethod
        def value(ad: Any, name: str) -> object:
            return ad.evaluate(name)

    return Ours()


def wheel() -> Language:
    """Return the wheel's."""
    import classad2

    class Theirs:
        parse_old = staticmethod(classad2.parseOne)
        parse_old_lazily = staticmethod(classad2.parseOne)
        parse_new = staticmethod(classad2.ClassAd)
        parse_many = staticmethod(classad2.parseAds)
        print_old = staticmethod(classad2.ClassAd.printOld)
        print_new = staticmethod(classad2.ClassAd.__str__)
        print_json = staticmethod(classad2.ClassAd.printJson)
        expression = staticmethod(classad2.ExprTree)
        match = staticmethod(classad2.ClassAd.symmetricMatch)

        @staticmethod
        def evaluate(expression: Any, ad: Any, target: Any) -> object:
            return expression.eval(ad, target)

        @staticmethod
        def value(ad: Any, name: str) -> object:
            return ad.eval(name)

    return Theirs()


class Bench:
    """The ads and the figures of one language: seconds for all the work of a batch, the best."""

    def __init__(self, language: Language, count: int) -> None:
        dice = random.Random(5)
        self.language = language
        self.machines = ["\n".join(machine_lines(number, dice)) for number in range(count)]
        self.jobs = ["\n".join(job_lines(number, dice)) for number in range(count)]
        self.new: list[str] = []
        self.seconds: dict[str, float] = {}

    def take(self, name: str, work: Callable[[int], object], prepare: Any = None) -> None:
        """Take one figure: the seconds for a batch of ads, each batch other ones."""
        best = float("inf")
        for number in range(_ROUNDS):
            first = number * _BATCH % len(self.machines)
            things = prepare(first) if prepare else first
            gc.collect()
            gc.disable()
            began = time.process_time()
            work(things)
            best = min(best, time.process_time() - began)
            gc.enable()
        self.seconds[name] = best

    def _old(self, first: int) -> list[Any]:
        return [self.language.parse_old(text) for text in self.machines[first : first + _BATCH]]

    def run(self) -> dict[str, float]:
        """Take all figures."""
        told, machines = self.language, self.machines
        several = lambda parse: lambda first: [parse(t) for t in machines[first : first + _BATCH]]  # noqa: E731
        self.take("parse old", several(told.parse_old))
        self.take("parse old, text kept", several(told.parse_old_lazily))
        new = [told.print_new(told.parse_old(text)) for text in machines[: _ROUNDS * _BATCH]]
        self.take(
            "parse new", lambda first: [told.parse_new(t) for t in new[first : first + _BATCH]]
        )
        for name, printed in (
            ("print old", told.print_old),
            ("print new", told.print_new),
            ("print JSON", told.print_json),
        ):
            self.take(name, lambda ads, p=printed: [p(ad) for ad in ads], self._old)
        self.take("evaluate 20 expressions", self._evaluate, self._old)
        self.take("symmetric match", self._match, self._old)
        self.take("parse and -af of 3", self._autoformat, self._stream)
        self.take("parse and 20 first reads", self._first_reads)
        self.take(
            "parse jobs", lambda first: [told.parse_old(t) for t in self.jobs[first:][:_BATCH]]
        )
        return self.seconds

    def _evaluate(self, ads: list[Any]) -> None:
        told = self.language
        job = told.parse_old(self.jobs[0])
        expressions = [told.expression(text) for text in EXPRESSIONS]
        for _ in range(4):
            for ad in ads:
                for expression in expressions:
                    told.evaluate(expression, ad, job)

    def _match(self, ads: list[Any]) -> None:
        told = self.language
        for text in self.jobs[:20]:
            job = told.parse_old(text)
            for ad in ads:
                told.match(job, ad)

    def _stream(self, first: int) -> str:
        return "\n\n".join(self.machines[first : first + _BATCH]) + "\n\n"

    def _autoformat(self, text: str) -> None:
        told = self.language
        for ad in told.parse_many(text):
            print(*(told.value(ad, name) for name in ("Name", "Memory", "State")), file=_SINK)

    def _first_reads(self, first: int) -> None:
        told = self.language
        names = [line.partition(" ")[0] for line in self.machines[0].split("\n")[:20]]
        for text in self.machines[first : first + _BATCH]:
            ad = told.parse_old_lazily(text)
            for name in names:
                told.value(ad, name)


_SINK = open(os.devnull, "w")  # noqa: SIM115


def private_bytes() -> int:
    """Return the private memory of this process."""
    rollup = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    return 1024 * sum(int(line.split()[1]) for line in rollup.splitlines() if "Private" in line)


def memory(language: Language, count: int) -> float:
    """Return the bytes that each of the machine ads takes, kept as they come."""
    dice = random.Random(5)
    # Once before, so that what is loaded and remembered only once is not counted.
    kept = [language.parse_old_lazily("\n".join(machine_lines(0, dice)))]
    gc.collect()
    before = private_bytes()
    kept += [
        language.parse_old_lazily("\n".join(machine_lines(number, dice))) for number in range(count)
    ]
    gc.collect()
    return (private_bytes() - before) / count


def stored_memory(count: int) -> float:
    """Return the bytes that each of the machine ads takes in a collector, with all it adds."""
    from kettle.classad.ad import parse_old_ad
    from kettle.collector import commands
    from kettle.collector.ad_store import AdStore, Sender
    from kettle.wire.codec import Reader, Writer
    from kettle.wire.commands import Command
    from kettle.wire.messages.collector import Update
    from kettle.wire.similar_ads import AlikeAds

    dice = random.Random(5)
    store, alike, sender = AdStore(), AlikeAds(), Sender("condor@example.org", "FS", "node")

    def take(number: int) -> None:
        ad = parse_old_ad("\n".join(machine_lines(number, dice)), check=False)
        writer = Writer(encrypted=True)
        Update(ad, None).write(writer)
        update = Update.read_alike(Reader(writer.getvalue(), encrypted=True), alike)
        commands.update(store, Command.UPDATE_STARTD_AD, update, now=1.0, sender=sender)

    # Until the store knows what they have in common.
    for number in range(_LESSONS):
        take(number)
    gc.collect()
    before = private_bytes()
    for number in range(count):
        take(_LESSONS + number)
    gc.collect()
    return (private_bytes() - before) / count


def measured(count: int, *, peer: bool) -> dict[str, float]:
    """Return the figures of one language."""
    language = wheel() if peer else kettle()
    figures = {} if peer else {"stored bytes": stored_memory(count)}
    figures["bytes"] = memory(language, count)
    return {**Bench(language, count).run(), **figures}


def ask(python: str, count: int, *, peer: bool) -> dict[str, float]:
    """Return the figures of one language, measured in a process of its own."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    command = [python, __file__, "--ads", str(count), "--peer" if peer else "--own"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    """Print the figures side by side."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ads", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--own", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer or options.own:
        print(json.dumps(measured(options.ads, peer=options.peer)))
        return
    python = os.environ.get("KETTLE_WHEEL_PYTHON", "")
    runs = []
    for _ in range(_RUNS):
        runs.append((ask(sys.executable, options.ads, peer=False), {}))
        if python:
            runs[-1] = (runs[-1][0], ask(python, options.ads, peer=True))
    best = [
        {name: min(run[side][name] for run in runs) for name in runs[0][side]} for side in (0, 1)
    ]
    ours, theirs = best
    ratios = {name: theirs[name] / ours[name] for name in theirs if name != "bytes"}
    for name, seconds in ours.items():
        if name in {"bytes", "stored bytes"}:
            continue
        target = f"(target {TARGETS[name]:.1f})" if name in TARGETS else ""
        ratio = f"{ratios[name]:8.2f}x the wheel {target}" if name in ratios else ""
        print(f"{name:28} {seconds / _BATCH * 1e6:9.1f} us an ad {ratio}")
    told = f"{ours['stored bytes']:9.0f} bytes (target {MOST_BYTES})"
    print(f"{'memory of an ad in a store':28} {told}")
    print(f"{'memory of a parsed ad':28} {ours['bytes']:9.0f} bytes", end="")
    print(f", the wheel {theirs['bytes']:.0f}" if theirs else "")
    if options.json:
        options.json.write_text(
            json.dumps({"ours": ours, "wheel": theirs, "ratios": ratios}, indent=1)
        )


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()

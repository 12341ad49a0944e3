"""ClassAd speed, ours beside the PyPI wheel's where that is installed.

Run as `PYTHONPATH=src python bench/classad.py`; only ratios within one run mean anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kettle.classad import ClassAd, parse_ad, parse_old_ad, symmetric_match, unparse
from kettle.classad.parser import Parser

ATTRIBUTES = 150
JOB = (
    '[Requirements = (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && '
    "(TARGET.Disk >= RequestDisk) && (TARGET.Memory >= RequestMemory); RequestDisk = 100;"
    ' RequestMemory = 128; Owner = "alice"; Rank = TARGET.Memory / 10.0]'
)
SLOT = (
    "[Requirements = START && (TARGET.RequestMemory <= MY.Memory); START = true; Memory = 2000;"
    ' Disk = 1000; Arch = "X86_64"; OpSys = "LINUX"; Rank = 0.0]'
)


def rate(work: Callable[[], object], operations: int) -> float:
    """Return operations a second of the best of five rounds of a tenth of a second each."""
    best = 0.0
    for _ in range(5):
        rounds, start = 0, time.perf_counter()
        while time.perf_counter() - start < 0.1:
            work()
            rounds += 1
        best = max(best, rounds * operations / (time.perf_counter() - start))
    return best


def long_ad() -> str:
    """Return an ad of many attributes of every kind in old syntax."""
    lines = []
    for number in range(ATTRIBUTES // 3):
        lines.append(f"Integer{number} = {number * 7}")
        lines.append(f'Text{number} = "value {number}"')
        lines.append(f"Expression{number} = Integer{number} > 5 && Text{number} =!= undefined")
    return "\n".join(lines) + "\n"


def ours() -> dict[str, float]:
    """Return our figures."""
    old = long_ad()
    ad = parse_old_ad(old)
    new = unparse(ad)
    job, slot = parse_ad(JOB), parse_ad(SLOT)

    def parse_cold() -> None:
        Parser(new).ad()

    return {
        "parse old (text kept), attributes": rate(
            lambda: parse_old_ad(old, check=False), ATTRIBUTES
        ),
        "parse old, attributes": rate(lambda: parse_old_ad(old), ATTRIBUTES),
        "parse new, attributes": rate(parse_cold, ATTRIBUTES),
        "print old, attributes": rate(lambda: unparse(ad, old=True), ATTRIBUTES),
        "evaluate Requirements": rate(lambda: job.evaluate("Requirements", slot), 1),
        "evaluate Requirements, operations": rate(lambda: job.evaluate("Requirements", slot), 7),
        "symmetric match": rate(lambda: symmetric_match(job, slot), 1),
    }


def theirs() -> dict[str, float]:
    """Return the wheel's figures, nothing if it is not installed."""
    try:
        import classad2
    except ImportError:
        return {}
    old = long_ad()
    ad = classad2.parseOne(old)
    new = str(ad)
    job, slot = classad2.ClassAd(JOB), classad2.ClassAd(SLOT)
    requirements = job["Requirements"]
    return {
        "parse old, attributes": rate(lambda: classad2.parseOne(old), ATTRIBUTES),
        "parse new, attributes": rate(lambda: classad2.ClassAd(new), ATTRIBUTES),
        "print old, attributes": rate(ad.printOld, ATTRIBUTES),
        "evaluate Requirements": rate(lambda: requirements.eval(job, slot), 1),
        "symmetric match": rate(lambda: job.symmetricMatch(slot), 1),
    }


def main() -> None:
    """Print the figures side by side."""
    mine, peer = ours(), theirs()
    for name, figure in mine.items():
        other = peer.get(name)
        beside = f"{other:12,.0f}/s {figure / other:6.2f}x" if other else ""
        print(f"{name:38} {figure:12,.0f}/s {beside}")


if __name__ == "__main__":
    assert isinstance(parse_old_ad("a = 1"), ClassAd)
    main()

"""A large pool's ads: what the collector takes to get them, and condor_status to show them.

    python bench/collector.py [--ads N] [--json FILE]

10,000 ads of 185 attributes go in over one connection, as a startd's updates do; then condor_status
asks for them. Printed beside the targets and, where $KETTLE_PEER_ROOT names a chroot with the real
HTCondor, beside its condor_advertise and condor_status in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
sys.path.append(str(Path(__file__).parent))

from peer import PeerPool, daemon_cpu, find_daemon, machine, peer_pool, tools_cpu

from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.config import load_config
from kettle.pool.personal import PersonalPool
from kettle.runtime.storage.files import SystemSources
from kettle.wire.commands import Command
from kettle.wire.messages.collector import Query, QueryReply
from kettle.wire.sinful import Sinful
from pool import tool

ATTRIBUTES = 185
TARGETS = {
    "ads_in_seconds": 2.4,
    "status_totals_seconds": 0.2,
    "status_af_name_seconds": 0.2,
    "status_l_seconds": 2.4,
}
_QUERIES = {
    "status_totals_seconds": ("-totals",),
    "status_af_name_seconds": ("-af", "Name"),
    "status_l_seconds": ("-l",),
}
_FIRST = {
    "MyType": '"Machine"',
    "TargetType": '"Job"',
    "HasStartDaemonAd": "true",
    "State": '"Unclaimed"',
    "Activity": '"Idle"',
    "Arch": '"X86_64"',
    "OpSys": '"LINUX"',
    "Requirements": "START",
    "START": "true",
    "Cpus": "8",
    "Memory": "16000",
    "EnteredCurrentActivity": "1700000000",
}


def lines_of(number: int) -> list[str]:
    """Return the lines of one slot's ad."""
    texts = {"Name": f'"slot1@host{number}"', "Machine": f'"host{number}"', **_FIRST}
    texts["MyAddress"] = f'"<10.1.{number // 250}.{number % 250}:9618>"'
    while len(texts) < ATTRIBUTES:
        each = len(texts)
        texts[f"Attribute{each}"] = f'"text {each}"' if each % 2 else str(number * each)
    return [f"{name} = {text}" for name, text in texts.items()]


def send_ads(config_file: str, count: int) -> float:
    """Send the ads over one connection; return the seconds until the collector has them all."""
    environment = {**os.environ, "CONDOR_CONFIG": config_file}
    config = load_config(SystemSources(), environment, subsystem="TOOL")
    address = Path(config.get("COLLECTOR_ADDRESS_FILE") or "").read_text().splitlines()[0]
    connector = Connector(config)
    collector = Sinful.parse(address)
    ads = []
    for number in range(count):
        ad = ClassAd()
        ad.insert_lines(lines_of(number))
        ads.append(ad)
    with connector.connect(collector, Command.UPDATE_STARTD_AD, timeout=60.0) as stream:
        bodies = []
        for number, ad in enumerate(ads):
            writer = stream.writer()
            if number:
                writer.integer(int(Command.UPDATE_STARTD_AD))
            bodies.append(writer.ad(ad).getvalue())
        began = time.perf_counter()
        for body in bodies:
            stream.post_body(body)
        stream.flush()
        ask = ClassAd({"MyType": "Query", "TargetType": "Machine", "LimitResults": 1})
        ask.insert_text("Requirements", f'Name == "slot1@host{count - 1}"')
        while True:
            with connector.connect(collector, Command.QUERY_STARTD_ADS, timeout=60.0) as asking:
                asking.send(Query(ask))
                if QueryReply.read(asking.receive()).ads:
                    return time.perf_counter() - began
            time.sleep(0.02)


class Meter:
    """The figures of one pool: of the clock, and CPU seconds of tools and collector together."""

    def __init__(self, folder: str) -> None:
        self.collector = find_daemon(b"condor_collector", folder)
        self.figures: dict[str, float] = {}
        self.cpu: dict[str, float] = {}

    def take(self, figure: str, work: Callable[[], float], *, times: int = 1) -> None:
        """Take one figure, the best of several times."""
        for _ in range(times):
            before = daemon_cpu(self.collector) + tools_cpu()
            seconds = work()
            time.sleep(0.3)  # an answering child has to be reaped to be counted
            used = daemon_cpu(self.collector) + tools_cpu() - before
            self.figures[figure] = min(seconds, self.figures.get(figure, seconds))
            name = figure.removesuffix("_seconds")
            self.cpu[name] = min(used, self.cpu.get(name, used))


def measure_ours(count: int) -> Meter:
    """Take every figure of our pool; who sends the ads is not counted."""
    with tempfile.TemporaryDirectory(prefix="kettle-bench-") as name:
        Path(name).chmod(0o755)
        pool = PersonalPool(str(Path(name) / "pool"), configuration="START = false\n")
        pool.make()
        pool.start()
        try:
            meter = Meter(pool.folder)
            meter.take("ads_in_seconds", lambda: send_ads(pool.config_file, count))
            for figure, words in _QUERIES.items():
                meter.take(figure, partial(_ask, pool, words), times=3)
        finally:
            pool.stop(how="fast")
    return meter


def _ask(pool: PersonalPool, words: tuple[str, ...]) -> float:
    return tool("condor_status", *words, pool=pool)[0]


def measure_peer(pool: PeerPool, count: int) -> Meter:
    """Take every figure of the peer's."""
    text = "\n\n".join("\n".join(lines_of(number)) for number in range(count)) + "\n"
    (pool.folder / "user/ads").write_text(text)
    words = ("condor_advertise", "-multiple", "UPDATE_STARTD_AD", f"/tmp/{pool.name}/user/ads")
    meter = Meter(f"/tmp/{pool.name}")
    meter.take("ads_in_seconds", lambda: _timed(pool.argv(*words)))
    for figure, options in _QUERIES.items():
        meter.take(figure, partial(_timed, pool.argv("condor_status", *options)), times=3)
    return meter


def _timed(argv: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> None:
    """Measure, print, and write the figures where they are wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ads", type=int, default=10_000)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    ours = measure_ours(arguments.ads)
    with peer_pool(f"bench-collector-{os.getpid()}") as peer:
        theirs = measure_peer(peer, arguments.ads) if peer is not None else None
    print(f"{arguments.ads} ads of {ATTRIBUTES}{'':<16} Kettle    target   HTCondor")
    for figure, value in ours.figures.items():
        beside = f"{theirs.figures[figure]:10.4g}" if theirs is not None else "         -"
        print(f"{figure:<32} {value:8.4g} {TARGETS[figure]:8.4g} {beside}")
    for figure, value in ours.cpu.items():
        beside = f"{theirs.cpu[figure]:10.4g}" if theirs is not None else "         -"
        print(f"{figure + ', CPU seconds':<32} {value:8.4g}          {beside}")
    if arguments.json:
        found = {
            **machine(),
            "ads": arguments.ads,
            "kettle": ours.figures,
            "peer": theirs.figures if theirs is not None else {},
            "targets": TARGETS,
            "kettle_cpu_seconds": ours.cpu,
            "peer_cpu_seconds": theirs.cpu if theirs is not None else {},
        }
        Path(arguments.json).write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""A graph for the real condor_dagman: hundreds of nodes with retries and scripts; some fail.

How it has to end is known beforehand, whatever is killed while it runs.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

NODE = """\
executable = /bin/sh
transfer_executable = false
program = echo $(name) >> order; n=`grep -cx $(name) order`; test $n -gt $(fails)
arguments = "-c 'cd $(here); $(program)'"
should_transfer_files = no
request_memory = 10
request_disk = 1MB
queue
"""
PRE = "#!/bin/sh\nexit $1\n"
# A script behind a node that failed lets it fail.
POST = '#!/bin/sh\ntest "$1" = 0 || exit "$1"\nexit "$2"\n'
_RETRIES = 2
_FOR_GOOD = 99


@dataclass
class LargeGraph:
    """So many nodes; the last fifth has some that fail for good, in each way a node can."""

    nodes: int
    lines: list[str] = field(default_factory=list)
    parents: dict[int, list[int]] = field(default_factory=dict)
    fails: dict[int, int] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)

    def write(self, folder: Path) -> None:
        """Write the graph, its nodes' description and their scripts."""
        luck = random.Random(self.nodes)
        late = self.nodes * 4 // 5
        bad_pre, bad_post, bad_node = (late + offset for offset in (3, 8, 14))
        self.failed = {bad_pre, bad_post, bad_node}
        for node in range(self.nodes):
            self.fails[node] = _FOR_GOOD if node == bad_node else int(node % 11 == 3)
            self.lines.append(f"JOB N{node} node.sub")
            words = f'name="N{node}" fails="{self.fails[node]}" here="{folder}"'
            self.lines.append(f"VARS N{node} {words}")
            if self.fails[node]:
                self.lines.append(f"RETRY N{node} {_RETRIES}")
            if node % 7 == 2 or node == bad_pre:
                self.lines.append(f"SCRIPT PRE N{node} pre.sh {int(node == bad_pre)}")
            if node % 5 == 4 or node == bad_post:
                self.lines.append(f"SCRIPT POST N{node} post.sh $RETURN {int(node == bad_post)}")
            if node >= 20:
                earlier = range(max(0, node - 60), node - 10)
                self.parents[node] = sorted(luck.sample(earlier, 2))
                self.lines += [f"PARENT N{parent} CHILD N{node}" for parent in self.parents[node]]
        (folder / "graph.dag").write_text("\n".join(self.lines) + "\n")
        (folder / "node.sub").write_text(NODE)
        for name, text in (("pre.sh", PRE), ("post.sh", POST)):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)

    def done(self) -> set[str]:
        """Return the names of the nodes that succeed."""
        done: set[int] = set()
        for node in range(self.nodes):
            if node not in self.failed and done.issuperset(self.parents.get(node, ())):
                done.add(node)
        return {f"N{node}" for node in done}

    def runs(self) -> Counter[str]:
        """Return how often each node's program runs."""
        runs: Counter[str] = Counter()
        begun: set[int] = set()
        for node in range(self.nodes):
            parents = self.parents.get(node, ())
            if begun.issuperset(parents) and self.failed.isdisjoint(parents):
                begun.add(node)
                tries = 1 + min(self.fails[node], _RETRIES)
                # Of a node whose script before it fails, nothing runs.
                runs[f"N{node}"] = 0 if node == min(self.failed) else tries
        return +runs

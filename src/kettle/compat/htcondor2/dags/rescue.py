"""What a DAG had done when it ended, from its rescue file, into its graph."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from kettle.compat.htcondor2.dags.dag import DAG
from kettle.compat.htcondor2.dags.exceptions import NoRescueFileFound
from kettle.compat.htcondor2.dags.formatter import NodeNameFormatter, SimpleFormatter
from kettle.compat.htcondor2.dags.writer import DEFAULT_DAG_FILE_NAME
from kettle.octets import AS_IS

_DONE: Final = "DONE"
_NUMBERED: Final = re.compile(r"\.rescue([0-9]+)")


def rescue(dag: DAG, rescue_file: Path | str, formatter: NodeNameFormatter | None = None) -> None:
    """Mark the jobs of a graph as done that a rescue file names, and no others.

    `formatter` is what named the jobs when the graph was written.
    """
    text = Path(rescue_file).read_text(encoding="utf-8", errors=AS_IS)
    _rescue(dag, text, formatter or SimpleFormatter())


def _rescue(dag: DAG, rescue_file_text: str, formatter: NodeNameFormatter) -> None:
    """Do what `rescue` does, of a file's text; it has the wheel's name, by which it is imported."""
    done: dict[str, dict[int, bool]] = {node.name: {} for node in dag.nodes}
    for line in rescue_file_text.splitlines():
        # Compat: the wheel takes the letters of DONE from the name as well, and fails at the
        # lines about retries (shown by test_rescue_reads_what_dagman_writes).
        word, _, name = line.strip().partition(" ")
        if word == _DONE:
            layer, number = formatter.parse(name.strip())
            done.setdefault(layer, {})[number] = True
    for node in dag.nodes:
        node.done = done[node.name]


def find_rescue_file(dag_dir: Path | str, dag_file_name: str = DEFAULT_DAG_FILE_NAME) -> Path:
    """Return the last rescue file of a DAG in a folder, as DAGMan would take it."""
    numbers = {
        int(found[1]): path
        for path in Path(dag_dir).iterdir()
        if path.name.startswith(dag_file_name)
        and (found := _NUMBERED.fullmatch(path.name[len(dag_file_name) :]))
    }
    if not numbers:
        raise NoRescueFileFound(f"there is no rescue file of {dag_file_name} in {dag_dir}")
    return numbers[max(numbers)]

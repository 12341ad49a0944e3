"""Run the examples of the manual's pages against a pool and write down what they print.

`python .ci/record_examples.py` rewrites `docs/tools/examples.json`; then run
`python .ci/generate_tools.py`. `tests/pool/test_manual_examples.py` fails when they print
something else.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests"), str(ROOT / "tests/pool")]

from kettle.testing.pool_fixture import personal_pool  # noqa: E402
from manual_examples import EXAMPLES, make_files, run_example  # noqa: E402


def main() -> None:
    """Record all of them."""
    recorded = {}
    with tempfile.TemporaryDirectory() as name, personal_pool(Path(name)) as pool:
        folder = Path(name)
        folder.chmod(0o777)
        os.chdir(folder)
        os.environ["HOME"] = name
        make_files(folder)
        for tool in EXAMPLES:
            code, said = run_example(pool, tool)
            said = said.replace(pool.folder, "/home/alice/pool").replace(name, "/home/alice")
            said = said.replace(os.uname().nodename, "laptop").replace("root", "alice")
            recorded[tool] = {"exit": code, "shown": said}
            sys.stderr.write(f"{tool}: {code}\n{said}\n")
        os.chdir("/")
    text = json.dumps(recorded, indent=1, ensure_ascii=False) + "\n"
    (ROOT / "docs/tools/examples.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

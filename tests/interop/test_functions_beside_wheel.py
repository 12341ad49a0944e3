"""The examples of the function tables are what the wheel's classad2 makes of them.

Known by: no connection: expressions.
"""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from interop.wheel_pool import wheel_python
from kettle.classad import ERROR, UNDEFINED, parse_expression
from kettle.classad.functions.library import families

pytestmark = pytest.mark.interop

# Functions that HTCondor lacks, in their own spelling: there each of their calls is an error.
OWN: frozenset[str] = frozenset()

# The functions of the pool are known to classad2 as soon as htcondor2 is there.
SCRIPT = """
import json, sys
import classad2, htcondor2
answers = []
for text in json.load(sys.stdin):
    value = classad2.ExprTree(text).eval()
    answers.append(value if isinstance(value, str) else value.name.lower())
print(json.dumps(answers))
"""


def test_every_example_of_a_function_is_true_of_the_wheel() -> None:
    rows = [row for rows in families().values() for row in rows]
    assert {row.name for row in rows} >= OWN
    examples = [text for row in rows for text, _ in row.examples]
    # As text every value can be compared; those that are none stay what they are.
    texts = [f"string({example})" for example in examples]
    done = subprocess.run(
        [str(wheel_python()), "-c", SCRIPT],
        input=json.dumps(texts),
        env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=True,
    )
    told = dict(zip(examples, json.loads(done.stdout), strict=True))
    names = {id(UNDEFINED): "undefined", id(ERROR): "error"}
    values = {example: parse_expression(f"string({example})").evaluate() for example in examples}
    shown = {text: names.get(id(value), value) for text, value in values.items()}
    shown.update((text, "error") for row in rows if row.name in OWN for text, _ in row.examples)
    assert shown == told

"""Every public name of the code is used somewhere in the code.

A name counts as used if it stands anywhere else as a word: as a name, an attribute, or in a string
(entries of zygotes, of scripts and of tables are named by strings). Tables of names, which exist to
be complete, are exempt.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter

import code_shape

# Tables that are complete whether or not all of it is used yet, and what others import.
TABLES = re.compile(
    r"attributes/|config/(knobs/|default_texts|subsystem_defaults|templates)|submit/commands/|wire/commands|"
    r"wire/messages/|classad/functions/|compat/|testing/|.*__init__\.py$"
)
# Names that somebody else calls: protocols of asyncio, argparse and imports, services' handlers by
# table.
CALLED_BY_OTHERS = re.compile(r"(on|visit)_\w+$|__\w+__$|main$|program$|(create|exec)_module$")
WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
# What tests alone use, as one half of a protocol or a table's index: may only shrink.
UNUSED = {
    "wire authorization.levels_of",
    "wire channel.digests",
}


def definitions(module: code_shape.Module) -> list[str]:
    """Return the public functions, methods, classes and constants of a module."""
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef | ast.Module):
            protocol = isinstance(node, ast.ClassDef) and any(
                code in ast.unparse(base) for base in node.bases for code in ("Protocol", "Enum")
            )
            if protocol:
                continue
            for child in node.body:
                if isinstance(child, (*code_shape.FUNCTIONS, ast.ClassDef)):
                    found.append(child.name)
                elif isinstance(child, ast.Assign):
                    found += [t.id for t in child.targets if isinstance(t, ast.Name)]
                elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
                    found.append(child.target.id)
    return [name for name in found if not name.startswith("_")]


def test_every_public_name_is_used() -> None:
    words: Counter[str] = Counter()
    for module in code_shape.modules():
        words.update(_words(module))
    unused = {
        f"{module.name.split('/')[0]} {module.path.stem}.{name}"
        for module in code_shape.modules()
        if not TABLES.match(module.name)
        for name in definitions(module)
        if words[name] == 1 and not CALLED_BY_OTHERS.match(name)
    }
    assert unused <= UNUSED, f"nothing uses {sorted(unused - UNUSED)}"
    assert unused >= UNUSED, f"used or gone, so take off the list: {sorted(UNUSED - unused)}"


@functools.cache
def _words(module: code_shape.Module) -> list[str]:
    """Return the words of a module, those of its comments and docstrings left out."""
    tree = ast.parse(module.text)
    for node in ast.walk(tree):
        if isinstance(
            node, (*code_shape.FUNCTIONS, ast.ClassDef, ast.Module)
        ) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return WORD.findall(ast.unparse(tree))


def test_every_private_constant_is_used_where_it_is() -> None:
    unused = []
    for module in code_shape.modules():
        words = Counter(_words(module))
        targets = [
            target
            for node in module.tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        ]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        unused += [name for name in names if re.match("_[^_]", name) and words[name] == 1]
    assert unused == []

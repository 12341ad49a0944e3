"""Every public name of the code is used somewhere in the code.

A name counts as used if it stands anywhere else as a word: as a name, an attribute, or in a string
(entries of zygotes, of scripts and of tables are named by strings). Tables of names, which exist to
be complete, are exempt.
"""

from __future__ import annotations

import ast
import re
from collections import Counter

import code_shape

# Tables that are complete whether or not all of it is used yet, and what plug-ins of ours offer.
TABLES = re.compile(
    r"attributes/|config/(knobs/|default_texts|templates)|submit/commands/|wire/commands|"
    r"wire/messages/|classad/functions/|testing/|.*__init__\.py$"
)
# Names that somebody else calls: protocols of asyncio and argparse, services' handlers by table.
CALLED_BY_OTHERS = re.compile(r"(on|visit)_\w+$|__\w+__$|main$|program$")
WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
# What nothing uses yet: may only shrink.
UNUSED = {
    "client/daemon.py:read_config_value",
    "collector/own_ad.py:from_tools",
    "matchmaking/autoclusters.py:attributes_text",
    "matchmaking/requests.py:group_jobs",
    "records/event_forms.py:read_event_ads",
    "runtime/files.py:append_durably",
    "runtime/privileges.py:group_id",
    "schedd/claims.py:in_phase",
    "schedd/idle_jobs.py:in_order",
    "schedd/qmgmt.py:has_uncommitted",
    "startd/service_claims.py:offer_preemption",
    "startd/slot_machine.py:edge_letter",
    "startd/slot_policy.py:VANILLA_VARIANTS",
    "starter/sandbox.py:OURS_IN_SCRATCH",
    "starter/sandbox.py:var_tmp",
    "starter/service_shadow.py:peer_host",
    "starter/service_world.py:log_prefix",
    "starter/settings.py:max_lease",
    "starter/syscalls.py:request_guidance",
    "submit/sources.py:MemorySubmitSources",
    "tools/tokens/condor_token_request_list.py:COLUMNS",
    "transfer/plan.py:directories_of",
    "wire/ccb.py:accept_reversed",
    "wire/channel.py:digests",
    "wire/channel.py:mid_message",
    "wire/safesock.py:LOOPBACK_FRAGMENT_SIZE",
    "wire/safesock.py:Reassembly",
    "wire/safesock.py:decode_payload",
    "wire/safesock.py:encode_datagrams",
    "wire/safesock.py:encode_payload",
    "wire/safesock.py:verify",
    "wire/security/authorization.py:from_settings",
    "wire/security/authorization.py:levels_of",
    "wire/security/authorization.py:remove_hole",
    "wire/security/claim_id.py:CHILD",
    "wire/security/claim_id.py:COLLECTOR_SIDE",
    "wire/security/claim_id.py:FAMILY",
    "wire/security/claim_id.py:NEGOTIATOR_SIDE",
    "wire/security/claim_id.py:PARENT",
    "wire/security/client_side.py:bare_command",
    "wire/security/client_side.py:client_inline_authentication",
    "wire/security/identity.py:expected_super_users",
    "wire/security/methods/password.py:MAC_SIZE",
    "wire/shared_port.py:connect_through",
    "wire/sinful.py:no_udp",
}


def definitions(module: code_shape.Module) -> list[tuple[str, str]]:
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
    return [(module.name, name) for name in found if not name.startswith("_")]


def test_every_public_name_is_used() -> None:
    words: Counter[str] = Counter()
    for module in code_shape.modules():
        words.update(WORD.findall(_without_docstrings(module)))
    unused = {
        f"{place}:{name}"
        for module in code_shape.modules()
        if not TABLES.match(module.name)
        for place, name in definitions(module)
        if words[name] == 1 and not CALLED_BY_OTHERS.match(name)
    }
    assert unused <= UNUSED, f"nothing uses {sorted(unused - UNUSED)}"
    assert unused >= UNUSED, f"used or gone, so take off the list: {sorted(UNUSED - unused)}"


def _without_docstrings(module: code_shape.Module) -> str:
    """Return the text of a module without its comments and docstrings."""
    tree = ast.parse(module.text)
    for node in ast.walk(tree):
        if isinstance(
            node, (*code_shape.FUNCTIONS, ast.ClassDef, ast.Module)
        ) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)

"""Functions stay simple and modules do not lead to each other in circles.

The lists name what does not hold yet. They may only shrink: what is mended must be taken off, and
nothing is put on.
"""

from __future__ import annotations

import code_shape

COMPLEXITY = 15
NESTING = 4

TOO_COMPLEX = {
    "classad/flatten.py:_Flattening.flatten",
    "classad/functions/lists.py:join",
    "classad/nodes.py:_same_node",
    "classad/unparse.py:_write",
    "client/running_job.py:peek",
    "config/functions.py:compute_file_name",
    "master/daemons.py:_plan",
    "records/event_forms.py:event_ad",
    "records/event_forms.py:event_from_ad",
    "records/event_usage.py:render_usage_table",
    "runtime/logs.py:parse_verbosity",
    "startd/ads.py:_fill_rollup",
    "starter/peek.py:plan_look",
    "starter/service.py:Starter._transfer_output",
    "submit/transfer.py:choose_transfer",
    "tools/condor_config_val.py:parse_arguments",
    "tools/condor_config_val.py:show_name",
    "tools/condor_ping.py:main",
    "tools/condor_status.py:render",
    "tools/condor_userprio.py:show",
    "tools/condor_wait.py:read_wish",
    "tools/condor_watch_q.py:find_jobs",
    "tools/front/description.py:render_description",
    "tools/history_wish.py:_apply",
    "tools/job_actions.py:read_wish",
    "tools/printing/columns.py:Columns.add_auto",
    "tools/queue_wish.py:_apply",
    "tools/submit_sending.py:submit_jobs",
    "tools/userprio_table.py:render_table",
    "transfer/plan.py:split_url_outputs",
    "transfer/plugins.py:read_results",
    "wire/security/authorization.py:Authorization._allows",
    "wire/security/client_side.py:client_handshake",
    "wire/security/negotiation.py:agree",
    "wire/sinful.py:parse_address_v1",
}
TOO_DEEP = {
    "config/declared.py:declared_knobs",
    "schedd/queries.py:summary",
    "startd/service_facts.py:_terminal_idle",
    "tools/condor_ssh_to_job.py:carry",
}
# Groups of modules that import each other, inside functions or for types alone: their rooms, and
# how many modules of each are in such a group.
IN_CYCLES = {
    "classad": 22,
    "config": 2,
    "negotiator": 2,
    "runtime": 2,
    "schedd": 14,
    "shadow": 6,
    "startd": 4,
    "starter": 7,
    "tools": 7,
}


def assert_only_shrinks(found: set[str], known: set[str], what: str) -> None:
    assert found <= known, f"{what}: split {sorted(found - known)}"
    assert known <= found, f"mended, so take off the list: {sorted(known - found)}"


def test_a_function_is_simple() -> None:
    found = {
        name
        for module in code_shape.modules()
        for name, function in code_shape.functions(module)
        if code_shape.complexity(function) > COMPLEXITY
    }
    assert_only_shrinks(found, TOO_COMPLEX, f"more than {COMPLEXITY} ways through")


def test_a_function_is_flat() -> None:
    found = {
        name
        for module in code_shape.modules()
        for name, function in code_shape.functions(module)
        if code_shape.nesting(function.body) > NESTING
    }
    assert_only_shrinks(found, TOO_DEEP, f"more than {NESTING} statements around another")


def test_modules_that_import_each_other_become_fewer() -> None:
    found: dict[str, int] = {}
    groups = code_shape.cycles(code_shape.import_graph())
    for group in groups:
        for name in group:
            room = name.split(".")[1]
            found[room] = found.get(room, 0) + 1
    more = {room: n for room, n in found.items() if n > IN_CYCLES.get(room, 0)}
    assert not more, f"give a part a Protocol of what it needs: {more}: {groups}"
    fewer = {room: found.get(room, 0) for room, n in IN_CYCLES.items() if found.get(room, 0) < n}
    assert not fewer, f"fewer now, so lower the numbers: {fewer}"

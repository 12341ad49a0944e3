"""Recorded file transfers of a real pool, played against our dialogs."""

from __future__ import annotations

import json
import posixpath
from pathlib import Path
from typing import Any

import pytest

from kettle.testing.dialog_pairs import say
from kettle.transfer.go_ahead import Terms
from kettle.transfer.items import Item, SendDirectory, SendFile
from kettle.transfer.receiving import download
from kettle.transfer.sending import upload
from unit.transfer.disk import MemoryDisk

DAEMONS = Path(__file__).parents[1] / "data" / "vectors" / "daemons"


def recorded(name: str, command: str) -> list[list[tuple[str, bytes, dict[str, Any]]]]:
    """Return the connections of a file that begin with `command`: (side, bytes, message)."""
    whole = json.loads((DAEMONS / f"{name}.json").read_text())
    found = []
    for connection in whole["connections"]:
        messages = []
        for message in connection["messages"]:
            if "packets" in message:
                data = b"".join(
                    bytes.fromhex(p["header"] + p["payload"]) for p in message["packets"]
                )
            else:
                data = bytes.fromhex(message["hex"])
            messages.append((message["dir"].split("-")[0], data, message))
        first = messages[0][2].get("decoded") or [{}]
        if first[0].get("value") == int(command):
            found.append(messages)
    return found


def first_value(message: dict[str, Any]) -> Any:
    return message["decoded"][0].get("value")


CONNECTIONS = [
    ("filetransfer_input", "61000", "server"),
    ("filetransfer_output", "61001", "client"),
    ("fake_execute_side_input_transfer", "61000", "server"),
    ("fake_execute_side_output_transfer", "61001", "client"),
    ("fake_submit_side_input_transfer", "61000", "server"),
    ("fake_submit_side_output_transfer", "61001", "client"),
]


@pytest.mark.parametrize(
    ("name", "command", "uploader"), CONNECTIONS, ids=[name for name, _, _ in CONNECTIONS]
)
def test_our_downloader_takes_what_a_real_uploader_sent(
    name: str, command: str, uploader: str
) -> None:
    for messages in recorded(name, command):
        theirs = [data for side, data, _ in messages[1:] if side == uploader]
        ours = b"".join(data for side, data, _ in messages[1:] if side != uploader)
        disk = MemoryDisk()
        names: list[str] = []
        outcome, sent = say(
            download(
                lambda n: posixpath.join("/box", n), disk, Terms("SHADOW"), arrived=names.append
            ),
            theirs,
        )
        assert outcome.success
        assert names
        # Everything up to our ack, whose statistics may differ, is byte for byte the same.
        go_ahead = ours[: ours.rindex(b"Result = 0") - 13]
        assert sent.startswith(go_ahead)
        bodies = b"".join(d for _, d, m in messages if "packets" not in m)
        received = [path for name in names if (path := posixpath.join("/box", name)) in disk.files]
        assert b"".join(disk.files[path] for path in received) == bodies


@pytest.mark.parametrize("name", ["filetransfer_input", "filetransfer_output"])
def test_our_uploader_sends_the_bytes_that_the_real_one_sent(name: str) -> None:
    command = "61000" if name.endswith("input") else "61001"
    uploader = "server" if name.endswith("input") else "client"
    [messages] = recorded(name, command)
    theirs = [data for side, data, _ in messages[1:] if side != uploader]
    ours = b"".join(data for side, data, _ in messages[1:] if side == uploader)
    disk = MemoryDisk()
    items, size = _items(messages[1:], uploader, disk)
    outcome, sent = say(
        upload(
            items,
            disk,
            Terms("SHADOW"),
            final=name.endswith("output"),
            sandbox_bytes=size,
        ),
        theirs,
    )
    assert outcome.success
    assert sent == ours


def _items(
    messages: list[tuple[str, bytes, dict[str, Any]]], uploader: str, disk: MemoryDisk
) -> tuple[list[Item], int]:
    """Read back what was sent; the go-ahead stands after the first name."""
    stream = [m for side, _, m in messages if side == uploader]
    size = int(stream[0]["decoded"][1]["attrs"][0].split(" = ")[1])
    items: list[Item] = []
    at = 1
    while (code := first_value(stream[at])) != 0:
        name = first_value(stream[at + 1])
        at += 2 if items else 4
        mode = first_value(stream[at])
        if code == 6:
            items.append(SendDirectory(name, mode))
            at += 1
            continue
        body = stream[at + 2]
        disk.files[f"/src/{name}"] = b"" if "packets" in body else bytes.fromhex(body["hex"])
        disk.modes[f"/src/{name}"] = mode
        items.append(SendFile(f"/src/{name}", name))
        at += 3
    return items, size

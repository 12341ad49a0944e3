"""Which jobs the lists of a program mean."""

from __future__ import annotations

from kettle.compat.htcondor2.job_specs import choose


def test_an_empty_list_means_nobody() -> None:
    assert choose([]).expression() == "false"
    assert choose(["1.0"]).expression() != "true"

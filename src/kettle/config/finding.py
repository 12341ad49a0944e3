"""What a check of a text finds, as data: for people it is drawn, for programs it is JSON."""

from __future__ import annotations

from kettle.named_tuples import NamedTuple

ERROR, WARNING, NOTE = "error", "warning", "note"


class Finding(NamedTuple):
    """One thing that is odd about a text, and where: line 0 where no line is to blame.

    `severity` is error (it does not work), warning (it works, and hardly as it is meant) or note;
    `kind` is one word for programs; `name` is what is set; `nearest` is the right word that is
    probably meant, and `hint` says what to do: both are empty where nothing can be said.
    """

    severity: str
    kind: str
    source: str
    line: int
    name: str
    sentence: str
    nearest: str = ""
    hint: str = ""

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return f"{self.source}, line {self.line}" if self.line else self.source

    @property
    def advice(self) -> str:
        """What to do about it, empty where nothing can be said."""
        return self.hint or (f"did you mean {self.nearest}?" if self.nearest else "")


def order_findings(findings: list[Finding]) -> list[Finding]:
    """Return the findings in the order of the files, as they were found, and of their lines."""
    files = list(dict.fromkeys(finding.source for finding in findings))
    return sorted(findings, key=lambda finding: (files.index(finding.source), finding.line))


def is_bad(findings: list[Finding], *, strict: bool) -> bool:
    """Tell whether a check has failed: for an error, and where one is strict for a warning."""
    bad = {ERROR, WARNING} if strict else {ERROR}
    return any(finding.severity in bad for finding in findings)

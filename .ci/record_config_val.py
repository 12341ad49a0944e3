#!/usr/bin/env python3
"""Record what the reference's condor_config_val says to many command lines, beside the tests.

Run as root, after `.ci/peer-condor setup`; writes tests/data/cli/admin/config_val.json. Lines whose
answers depend on the machine, or that Kettle knowingly answers otherwise, are not in the list.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

ROOT = Path(os.environ.get("PEER_ROOT", Path.home() / ".cache/peer-condor"))
DATA = Path(__file__).parents[1] / "tests/data/cli/admin/config_val.json"
FOLDER = "/tmp/config-val"
FILES = {
    "c": """\
LOCAL_DIR = @FOLDER@
FOO = bar
Mixed_Case = $(FOO) x
MULTI @=end
 line one
 $(FOO) two
@end
EMPTY =
NUM = 3+4
SCHEDD.NUM = 17
REFBAD = $(NOSUCH) y
PATHY = /a//b/../c/./d
SCHEDD_INTERVAL = 60
LONGEXPR = ifThenElse($(NUM) > 3, "a", "b")
COLLECTOR_HOST = 127.0.0.1:1
NETWORK_INTERFACE = 127.0.0.1
LOG = @FOLDER@/no-log
""",
    "c2": "FOO = other\ninclude : @FOLDER@/c3\n",
    "c3": "BAR = $(FOO) three\n",
    # What -macro, -trace and values of several lines are shown with.
    "m": """\
C = c
E =
A = /a/b/x.tar.gz
L = q,r,s
N = 7
BAD = x$INT(q)y
OK = $(C)$(DOLLAR)$Fn(C)
A = /a/b/x.tar.gz
n = 7
TOOL.N = 8
TOOL.N = 7
M @=end
$(E)
  if true

@end
P = $(M)
Q = x $(M)
""",
    "said": """\
warning : a
I = $INT(x)
if $(I)
endif
warning : b
""",
    "name": "A = 1\n$(NO)- = 2\n",
}
NAMES = "FOO mixed_case MULTI EMPTY NUM NOSUCH REFBAD PATHY SCHEDD.NUM LONGEXPR foo '$(FOO)/x'"
WAYS = (
    "", "-v", "-raw", "-exp", "-def", "-eval", "-mixed", "-v -raw", "-v -def", "-def -v",
    "-v -eval", "-macro", "-macro:path", "-sub SCHEDD", "-trace", "-used", "-diag", "-swap",
    "-verbose:terse", "-verbose:nonsense", "-macro -v",
)  # fmt: skip
ALONE = (
    "-config", "-config -v", "-config FOO", "-summary", "-summary FOO", "-summary:x MULTI",
    "-config -summary", "-writeconfig:file -", "-write:file,only -", "-write:env,only -",
    "-sum -write -", "-write - -sum", "-write", "-wri:file", "-master -write -", "use", "use ROLE",
    "use ROLE FOO", "FOO use ROLE:Personal", "use nosuch FOO", "use ROLE:nosuch FOO", "-use ROLE",
    "-exp use POLICY:always_run_jobs", "use ROLE -v", "-set", "-unset", "-rset", "-runset",
    "-set 'A = 1'", "-unset A", "-rset 'A = 1'", "-runset A", "-name nosuch FOO", "-name x",
    "-name nosuch@host -schedd FOO", "-pool 127.0.0.1:1 FOO", "-address foo FOO", "-address foo",
    "-address '<127.0.0.1:1>' FOO", "-address '<127.0.0.1:1>' -v FOO", "-schedd FOO", "-startd FOO",
    "-negotiator FOO", "-schedd use ROLE", "-schedd -rset 'A B = 7'", "-check-if 'defined FOO'",
    "--check-if 'x y'", "-check-if true", "-check-if", "-root-config @FOLDER@/c2 FOO BAR NUM",
    "--root-config @FOLDER@/c2 -config", "-root-config", "-V FOO", "- FOO", "-owner -nonesuch",
    "-nonesuch -version", "-version -nonesuch", "-help", "--help", "--version", "-v", "-raw", "",
)  # fmt: skip
MACROS = (
    "$F(A) $F(NOPE) $F($(A)) $Fq(E) $Fq(NOPE) $Fn($(C)) $F(/x/y) $BASENAME(A) $BASENAME(A,.gz) "
    "$DIRNAME(A) $DIRNAME(NOPE) $SUBSTR(A) $SUBSTR(A,2) $SUBSTR(A,2,3) $SUBSTR(A,-2) "
    "$SUBSTR(NOPE,1) $SUBSTR(A,N) $SUBSTR(A,x) $SUBSTR(A,1,x) $SUBSTR(A,x,1) $SUBSTR() $STRING(A) "
    "$STRING(NOPE) $STRING(C,%5s) $STRING(C,%d) $INT(N) $INT(N,%05d) $INT(NOPE) $INT() $INT(N,%s) "
    "$INT($(C)) $REAL(N) $REAL(NOPE) $REAL(N,%d) $CHOICE(0,L) $CHOICE(1,a,b) $CHOICE(N,a,b) "
    "$CHOICE(0,NOPE) $CHOICE(0,E) $CHOICE(-1,L) $CHOICE(x,L) $CHOICE() $CHOICE(0) $CHOICE(,L) "
    "$CHOICE(0,) $EVAL(N) $EVAL(NOPE) $EVAL(A) $ENV(HOME) $ENV(NO) $ENV(NO:x) "
    "$ENV($(C)) $(C$(E)) $(NOPE:x $(DOLLAR) $(DOLLAR:x) $$(C) $(C)-$INT(x)-$(C) $(C)$(BAD) "
    "$(BAD)$(C) $(OK)$(C) $(X:$INT(y))$(C) $(C)$(NOPE)$(C) $(NOPE)$(C) $(NOPE:$(C)$(C))$(C) "
    "$(DOLLAR)$(C) $INT(x)$(C) $(A)$(B)$(C)$(D)$(E)$(L)"
)
OPTIONS = (
    "name address pool local-name subsystem master schedd startd collector negotiator set unset "
    "rset runset mixedcase diagnostic raw default config verbose trace expanded macro evaluate "
    "unused used summary root-config help version"
)


def command_lines() -> list[str]:
    """Return every command line that is asked, each once."""
    lines = [f"{way} {name}".strip() for name in shlex.split(NAMES) for way in WAYS]
    lines = [shlex.join(shlex.split(line)) if "$" not in line else line for line in lines]
    lines += ALONE
    lines += [f"-root-config @FOLDER@/m -macro -v '{text}'" for text in MACROS.split()]
    lines += [f"-root-config @FOLDER@/m {way} M P Q" for way in ("-v", "-v -raw", "-exp", "-def")]
    several = ("-dump", "-dump -v", "-dump -exp", "-dump -exp -v")
    lines += [f"-root-config @FOLDER@/m {way} '^[MPQ]$'" for way in several]
    lines += [f"-root-config @FOLDER@/m -trace {rest}" for rest in ("N A", "TOOL.N -v", "-macro N")]
    lines += [f"-root-config @FOLDER@/{name} A I" for name in ("said", "name")]
    lines += ["-sub schedd LOCALNAME SUBSYSTEM", "-sub schedd -loc Inst LOCALNAME SUBSYSTEM"]
    for name in OPTIONS.split():
        for length in range(1, len(name) + 1):
            beginning = name[:length]
            lines += [f"-{beginning} FOO", f"--{beginning} FOO", f"-{beginning}:x FOO"]
    # -tilde is the machine's, -debug the hour's.
    machines = ("-t FOO", "-de FOO", "-de:x FOO")
    return [line for line in dict.fromkeys(lines) if line not in machines]


def words(line: str) -> list[str]:
    """Return the arguments of a command line; macros are no shell's."""
    return shlex.split(line.replace("@FOLDER@", FOLDER))


def ask(line: str) -> dict[str, object]:
    """Return the reference's answer."""
    done = subprocess.run(
        ["chroot", str(ROOT), "env", "-i", f"CONDOR_CONFIG={FOLDER}/c", "HOME=/root",
         "PATH=/usr/bin:/bin", "condor_config_val", *words(line)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    said = {"exit": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
    return {"line": line, **{k: _portable(v) for k, v in said.items()}}


def _portable(value: object) -> object:
    if not isinstance(value, str):
        return value
    value = re.sub(r" at line \d+ in file config\.cpp$", "", value, flags=re.MULTILINE)
    before, usage, _ = value.partition("Usage: ")
    return (before + ("@USAGE@" if usage else "")).replace(FOLDER, "@FOLDER@")


def main() -> None:
    """Record."""
    folder = ROOT / FOLDER.lstrip("/")
    folder.mkdir(exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text.replace("@FOLDER@", FOLDER), encoding="utf-8")
    cases = [ask(line) for line in command_lines()]
    rows = ",\n".join(json.dumps(case) for case in cases)
    files = json.dumps(FILES)
    DATA.write_text(f'{{"files": {files}, "cases": [\n{rows}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()

"""The usage message of `condor_q`, and the tables of codes that its `-help` knows."""

from __future__ import annotations

from collections.abc import Iterable

from kettle.attributes.codes import JobStatus, JobUniverse

USAGE = """\
Usage: condor_q [OPTIONS] [CLUSTER | CLUSTER.PROC | OWNER]…

WHERE FROM
  -name SCHEDD, -addr ADDRESS, -pool HOST   one schedd
  -global                                   every schedd of the pool
  -schedd-constraint EXPR                   the schedds whose ads satisfy EXPR
  -submitter NAME                           the schedds where NAME has jobs
  -jobads[:FORM] FILE                       a file of ads (auto, long, new, xml, json)
  -userlog FILE                             an event log

WHICH JOBS
  CLUSTER, CLUSTER.PROC, OWNER              these
  -allusers                                 everybody's, not only mine
  -constraint EXPR                          those for which EXPR is true
  -limit N                                  N at most
  -run, -hold, -idle, -io, -grid            those in this state, in a table about it
  -unmatchable                              idle ones that no slot would take
  -hold-codes                               the first for each reason to be held

HOW SHOWN
  -batch, -nobatch                          a row for each batch, or for each job
  -dag                                      nodes of DAGs under their DAGMan
  -totals                                   counts alone
  -cputime, -currentrun                     which time
  -wide[:N]                                 rows as long as they are, or N
  -af[:jlhVrTY,tng] ATTR…                   these attributes, a row for each job
  -aaf[:VrTY] ATTR…                         these attributes after those of the table
  -format FORMAT ATTR                       an attribute through a printf format
  -print-format FILE                        the columns that FILE describes
  -long[:FORM], -xml, -json                 whole ads
  -attributes LIST                          only these attributes of whole ads
  -capture-raw-results[:[+]FILE]            first the ads of the table as they came, for -jobads
  -profile                                  what fetching them cost

WHY A JOB DOES NOT RUN
  -better-analyze [JOB]                     each condition, and how many slots meet it
  -analyze [JOB]                            the counts alone, if all slots meet them all
  -better-analyze:priority                  and which slots others with a better priority have
  -better-analyze:noprune                   every part of them, with a star before those that count
  -reverse-analyze                          from the machines' point of view
  -better-analyze:summary, -reverse:summary a row for each group of jobs, or machine
  -machine NAME, -mconstraint EXPR          only these machines
  -slotads[:FORM] FILE                      machines from a file

  -help [Universe|State]                    say this, and what those codes mean, and end
  -version                                  say the version and end
"""
# Universes that never came into use are not listed.
_UNUSED = frozenset({JobUniverse.PIPE, JobUniverse.LINDA})


def render_codes(topics: Iterable[str]) -> str:
    """Return the tables that words after `-help` ask for; a word may be cut short."""
    # Compat: only the first letter may be a capital; shown by test_help_lists_codes.
    words = [word[:1].lower() + word[1:] for word in topics]
    rows = []
    if any(len(word) > 2 and "universe".startswith(word) for word in words):
        rows.append("    JobUniverse codes:\n")
        rows += [f"\t{each:2d} {each.title}\n" for each in JobUniverse if each not in _UNUSED]
        rows.append("\n")
    if any(len(word) > 1 and "state".startswith(word) for word in words):
        rows.append("    JobStatus codes:\n")
        rows += [f"\t{each:2d} {each.letter} {each.name}\n" for each in JobStatus]
        rows.append("\n")
    return "".join(rows)

"""The records of a job's runs."""

from __future__ import annotations

from kettle.records import history
from kettle.schedd.departures import epoch_record
from unit.schedd.queue_fixture import NOW, Schedd


def test_a_run_is_recorded_when_it_begins_by_name_and_when_it_ends_in_full() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1, Args='"x"')
    schedd.queue.update(job.id, {"NumShadowStarts": "3", "ClaimId": '"secret"'})
    data = epoch_record("SPAWN", job, NOW) + epoch_record("EPOCH", job, NOW + 5)
    spawn, epoch = history.read_forwards(data)
    assert (spawn.kind, epoch.kind) == ("SPAWN", "EPOCH")
    assert epoch.fields["RunInstanceId"] == "2"
    assert 'EpochAdType = "EPOCH"' in epoch.lines
    assert 'Args = "x"' in epoch.lines
    assert 'Args = "x"' not in spawn.lines
    assert not [line for line in epoch.lines if "secret" in line]

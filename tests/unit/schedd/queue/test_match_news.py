"""What a schedd tells of the matches of whole autoclusters."""

from __future__ import annotations

from kettle.attributes.codes import JobStatus
from kettle.classad import parse_old_ad
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.match_news import MatchNews


def job_of(proc: int, text: str, status: int = JobStatus.IDLE) -> Job:
    return Job(JobId(1, proc), parse_old_ad(text), status=status)


def test_a_job_that_was_refused_itself_speaks_for_its_autocluster() -> None:
    """Shapes recorded from HTCondor 25.14.1."""
    refused = job_of(
        0,
        'AutoClusterId = 5\nLastRejMatchReason = "no match found"\n'
        'LastRejMatchNegotiator = "vm"\nLastRejMatchTime = 1795418000\n',
    )
    news = MatchNews()
    news.see(refused)
    news.see(job_of(1, "AutoClusterId = 5\n"))
    told = news.tell([])
    assert told is not None
    assert str(told["ac5"]) == str(
        parse_old_ad(
            'AutoClusterId = 5\nLastRejMatchReason = "no match found"\n'
            'LastRejMatchNegotiator = "vm"\nLastRejMatchTime = 1795418000\n'
        )
    )


def test_others_of_its_autocluster_speak_for_a_job_that_was_not() -> None:
    """Their latest success and failure, and how many there are."""
    asked = job_of(0, "AutoClusterId = 7\n")
    queue = [
        asked,
        job_of(1, "AutoClusterId = 7\nLastMatchTime = 50\n", JobStatus.RUNNING),
        job_of(2, 'AutoClusterId = 7\nLastRejMatchTime = 40\nLastRejMatchReason = "early"\n'),
        job_of(3, 'AutoClusterId = 7\nLastRejMatchTime = 60\nLastRejMatchReason = "late"\n'),
        job_of(4, "AutoClusterId = 8\nLastMatchTime = 99\n", JobStatus.COMPLETED),
        job_of(5, ""),
    ]
    news = MatchNews()
    news.see(asked)
    told = news.tell(queue)
    assert told is not None
    assert told.names() == ["ac7"]
    assert told["ac7"] == parse_old_ad(
        'AutoClusterId = 7\nLastMatchTime = 50\nLastRejMatchReason = "late"\n'
        "LastRejMatchTime = 60\nNumRunning = 1\nNumIdle = 3\nNumJobs = 4\n"
    )


def test_nothing_is_told_of_jobs_that_nobody_negotiated_for() -> None:
    news = MatchNews()
    news.see(job_of(0, "ProcId = 0\n"))
    assert news.tell([]) is None

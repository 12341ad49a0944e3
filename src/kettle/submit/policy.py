"""Steps: what happens to the job and when - retries, deferral, groups, mail, holds."""

from __future__ import annotations

from kettle.attributes.codes import HoldReasonCode, JobUniverse, Notification
from kettle.classad import parse_expression
from kettle.classad.nodes import AttributeReference, Literal, Parentheses, Selection, children
from kettle.errors import ClassAdSyntaxError, SubmitError
from kettle.octets import BLANKS
from kettle.patterns import late_pattern
from kettle.submit.job import JobBuilder, literal_number, whole_number
from kettle.submit.literals import normalize
from kettle.submit.notices import ERROR_MARK

NOTIFICATIONS = tuple(one.name.lower() for one in Notification)
GROUP_NAME = late_pattern(r"\S+")
NICE_GROUP = "nice-user"
CRON = (
    ("cron_minute", "CronMinute"),
    ("cron_hour", "CronHour"),
    ("cron_day_of_month", "CronDayOfMonth"),
    ("cron_month", "CronMonth"),
    ("cron_day_of_week", "CronDayOfWeek"),
)
CRON_ATTRIBUTES = tuple(attribute for _, attribute in CRON)
# Spooled jobs stay until their output was fetched, ten days at most.
LEAVE_SPOOLED = (
    "JobStatus == 4 && (time() - (CompletionDate ?: time())) < 864000"
    " && (StageOutFinish ?: 0) < EnteredCurrentStatus"
)
# A lease of so many seconds need not be compared with the shortest that there is.
_SURELY_LONG = 60
WITHOUT_LEASE = (JobUniverse.LOCAL, JobUniverse.SCHEDULER, JobUniverse.GRID, JobUniverse.MPI)


def set_retries(job: JobBuilder) -> None:
    """Decide OnExitHold, OnExitRemove and how often the job is tried again."""
    retries = job.integer("max_retries")
    success = job.integer("success_exit_code", bits=32)
    until = job.param("retry_until")
    remove, hold = job.param("on_exit_remove"), job.param("on_exit_hold")
    if retries is None and success is None and until is None:
        if hold is not None:
            job.set_expression("OnExitHold", hold)
        if remove is not None:
            job.set_expression("OnExitRemove", remove)
        return
    _set_most_retries(job, retries)
    if hold is None:
        job.set_default("OnExitHold", "false")
    else:
        job.set_expression("OnExitHold", hold)
    # Compat: in the reference a later job's on_exit_remove counts for nothing where max_retries
    # stands beside it alone (test_a_later_job_that_is_tried_again_leaves_the_queue_when_it_says).
    is_own = success is not None or until is not None or remove is not None
    if not is_own and job.of_cluster("OnExitRemove") is not None:
        return
    wanted = "0"
    if success is not None:
        job.set_integer("JobSuccessExitCode", success)
        wanted = "JobSuccessExitCode"
    clauses = ["NumJobCompletions > JobMaxRetries", f"ExitCode =?= {wanted}"]
    if until is not None:
        clauses.append(_retry_until(until))
    if remove is not None:
        clauses.append(remove)
    job.set_expression("OnExitRemove", " || ".join(clauses))


def _set_most_retries(job: JobBuilder, said: int | None) -> None:
    if said is None:
        job.set_default("JobMaxRetries", str(job.config.integer("DEFAULT_JOB_MAX_RETRIES")))
    else:
        job.set_integer("JobMaxRetries", said)


def _retry_until(text: str) -> str:
    said = f"retry_until={text} is invalid, it must be an integer or boolean expression."
    try:
        expression = normalize(text)
    except ClassAdSyntaxError as fault:
        raise SubmitError(said, command="retry_until") from fault
    code = whole_number(text)
    if code is None or _asks_for_attributes(text):
        # What asks for an attribute is a condition, though it may have a value without any job.
        return expression
    if abs(code) >> 31:
        raise SubmitError(said, command="retry_until")
    return f"ExitCode =?= {code}"


def _asks_for_attributes(text: str) -> bool:
    pending = [parse_expression(text, old=True)]
    while pending:
        node = pending.pop()
        if isinstance(node, AttributeReference | Selection):
            return True
        pending += children(node)
    return False


def set_leave_in_queue(job: JobBuilder) -> None:
    """Decide LeaveJobInQueue."""
    text = job.param("leave_in_queue")
    if text is None and job.is_later:
        return
    job.set_expression("LeaveJobInQueue", text or (LEAVE_SPOOLED if job.spooled else "false"))


def set_hold(job: JobBuilder) -> None:
    """Decide the status the job is queued with."""
    hold = job.boolean("hold")
    if hold and job.spooled:
        raise SubmitError("Cannot set hold to 'true' when using -remote or -spool")
    if job.spooled:
        job.set_string("HoldReason", "Spooling input data files")
        job.set_integer("HoldReasonCode", HoldReasonCode.SpoolingInput)
        job.status = 5
    elif hold:
        job.set_string("HoldReason", "submitted on hold at user's request")
        job.set_integer("HoldReasonCode", HoldReasonCode.SubmittedOnHold)
        job.status = 5
    else:
        job.status = 1


def set_lease(job: JobBuilder) -> None:
    """Decide JobLeaseDuration; only jobs that a machine runs have one."""
    text = job.param("job_lease_duration")
    if text is None:
        if job.universe in WITHOUT_LEASE or job.is_later:
            return
        name = "JOB_DEFAULT_LEASE_DURATION"
        text = job.config.get(name) or job.config.default_text(name)
        if text is None:
            return
    job.set_expression("JobLeaseDuration", _long_enough(job, text))


def _long_enough(job: JobBuilder, text: str) -> str:
    """Return a lease, the shortest that there is for a number below it; warn of that.

    Compat: so has each job, where the reference takes from the second on what they say
    (test_each_job_has_a_lease_that_is_long_enough).
    """
    seconds = literal_number(text.strip(BLANKS))
    if seconds is None or not 1 <= seconds < _SURELY_LONG:
        return text
    from kettle.policy.lease import SHORTEST_SECONDS  # few leases are so short

    if seconds >= SHORTEST_SECONDS:
        return text
    said = f"less than {SHORTEST_SECONDS} seconds is not allowed, using {SHORTEST_SECONDS} instead"
    job.warn("job_lease_duration", f"JobLeaseDuration {said}")
    return str(SHORTEST_SECONDS)


def set_accounting(job: JobBuilder) -> None:
    """Decide AccountingGroup, from group, user and niceness."""
    group, user = job.param("accounting_group"), job.param("accounting_group_user")
    if job.boolean("nice_user"):
        if group is None:
            group = job.config.get("NICE_USER_ACCOUNTING_GROUP_NAME") or NICE_GROUP
        else:
            job.warn(
                "nice_user",
                "nice_user conflicts with accounting_group. nice_user will be ignored",
            )
        if job.param("max_job_retirement_time") is None:
            job.set_expression("MaxJobRetirementTime", "0")
    for command, value in (("accounting_group", group), ("accounting_group_user", user)):
        if value is not None and not GROUP_NAME.fullmatch(value):
            raise SubmitError(f"Invalid {command}: {value}", command=command)
    if group is None and user is None:
        return
    name = user if user is not None else job.facts.user
    job.set_string("AcctGroupUser", name)
    if group is None:
        job.set_string("AccountingGroup", name)
        return
    job.set_string("AcctGroup", group)
    job.set_string("AccountingGroup", f"{group}.{name}")


def set_notification(job: JobBuilder) -> None:
    """Decide when mail is sent and to whom."""
    text = job.param("notification") or job.config.get("JOB_DEFAULT_NOTIFICATION") or "never"
    word = text.upper()
    if word not in Notification.__members__:
        raise SubmitError("Notification must be 'Never', 'Always', 'Complete', 'Start', or 'Error'")
    job.set_integer("JobNotification", Notification[word])
    user = job.param("notify_user")
    if user is None:
        return
    if user.lower() in ("never", "false"):
        # Compat: told also where something is refused later, of which the reference tells alone
        # (test_a_person_called_never_is_doubted_beside_a_later_fault).
        domain = job.config.get("UID_DOMAIN") or ""
        job.warn(
            "notify_user",
            f"You used  notify_user={user}  in your submit file.\n"
            f'This means notification email will go to user "{user}@{domain}".\n'
            "This is probably not what you expect!\n"
            'If you do not want notification email, put "notification = never"\n'
            "into your submit file, instead.",
        )
    job.set_string("NotifyUser", user)


def set_deferral(job: JobBuilder) -> None:
    """Decide the deferral and cron attributes; cron texts are checked where they are used."""
    for command, attribute in CRON:
        text = job.param(command)
        if text is not None:
            job.set_string(attribute, text)
    when = job.param("deferral_time")
    if when is not None:
        job.set_expression("DeferralTime", _non_negative(job, "deferral_time", when))
    job.needs_deferral = any(
        job.attributes.get(name) is not None for name in (*CRON_ATTRIBUTES, "DeferralTime")
    )
    if not job.needs_deferral:
        return
    if when is not None and job.universe is JobUniverse.SCHEDULER:
        # Such a job has no starter, and so nobody who waits for its time.
        first = next((name for name in CRON_ATTRIBUTES if job.attributes.get(name)), "DeferralTime")
        raise SubmitError(
            f"{first} does not work for scheduler universe jobs.\n"
            "Consider submitting this job using the local universe, instead"
        )
    for command, attribute, default in (
        ("deferral_window", "DeferralWindow", "0"),
        ("deferral_prep_time", "DeferralPrepTime", "300"),
    ):
        text = job.param(command)
        if text is None and not job.is_set(command):
            # Compat: of jobs that are made later the reference forgets what the cluster has, which
            # no digest says again (test_a_late_job_has_the_deferral_window_of_its_cluster).
            job.set_default(attribute, default)
            continue
        text = text or default
        job.set_expression(attribute, _non_negative(job, command, text))


def needs_deferral(job: JobBuilder) -> bool:
    """Tell whether the job waits for a time, also one that it has as an attribute of its own.

    Decides ScheddInterval, which such a job's Requirements speak of; a job whose Requirements have
    no such clause has none.
    """
    own = any(job.forced.get(name) for name in ("DeferralTime", *CRON_ATTRIBUTES))
    waits = own or job.needs_deferral
    if waits and (job.needs_deferral or job.current("ScheddInterval") is None):
        from kettle.config.knobs.schedd import ScheddKnobs  # few jobs wait for a time

        job.set_integer("ScheddInterval", job.config.value(ScheddKnobs.SCHEDD_INTERVAL))
    return waits


def _non_negative(job: JobBuilder, command: str, text: str) -> str:
    """Return a text that is a whole number from 0 or an expression, whatever it is worth."""
    del job
    said = f"{command} = {text} is invalid, must eval to a non-negative integer."
    error = SubmitError(said)
    try:
        expression = normalize(text)
    except ClassAdSyntaxError as fault:
        name = "".join(word.capitalize() for word in command.split("_"))
        more = f"{ERROR_MARK}Parse error in expression: \n\t{name} = {text}\n\t"
        raise SubmitError(f"{said}\n{more}") from fault
    tree = parse_expression(text, old=True)
    while isinstance(tree, Parentheses):
        tree = tree.inner
    if isinstance(tree, Literal):
        number = None if isinstance(tree.value, bool) else tree.value
        if not isinstance(number, int) or number < 0:
            raise error
    return expression


def set_materialization(job: JobBuilder) -> None:
    """Decide how many jobs that are made later may be idle.

    Whether there are such jobs is asked before any item is there, and this must be a number then;
    but an item may say what it likes.
    """
    job.is_set("max_materialize")
    idle = job.param("max_idle")
    if idle is not None:
        job.set_expression("JobMaterializeMaxIdle", idle)

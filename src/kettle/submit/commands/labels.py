"""Submit commands: names, notes and what the event log shows. A pure table."""

from kettle.submit.commands.command import Command

COMMANDS = (
    Command("batch_name", "JobBatchName", "string", "Name under which condor_q groups jobs."),
    Command("batch_id", "JobBatchId", "string", "Identity under which jobs are grouped."),
    Command("description", "JobDescription", "plain", "A description that condor_q shows."),
    Command("submit_event_notes", "SubmitEventNotes", "plain", "Notes in the submit event."),
    Command("dag_node_name", "DAGNodeName", "plain", "The node of a workflow that the job is."),
    Command(
        "dagman_job_id", "DAGManJobId", "count", "The cluster of the workflow's manager.", turn=121
    ),
    Command("project_name", "ProjectName", "plain", "The project that the job is for."),
    Command(
        "submit_event_notes_attrs",
        "SubmitEventNotesAttrs",
        "plain",
        "Attributes of the job that the submit event shows.",
    ),
    Command(
        "submit_event_user_notes",
        "SubmitEventUserNotes",
        "plain",
        "The user's notes in the submit event.",
    ),
    Command(
        "ulog_execute_attrs",
        "UserLogExecuteEventAttrs",
        "plain",
        "Attributes of the machine that the execute event shows.",
    ),
    Command(
        "job_ad_information_attrs",
        "JobAdInformationAttrs",
        "plain",
        "Attributes of the job that events show.",
    ),
    Command("jobset", "JobSetName", "string", "The set that the job belongs to."),
)

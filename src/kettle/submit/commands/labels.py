"""Submit commands: names, notes and what the event log shows. A pure table."""

from kettle.submit.commands.command import Command

COMMANDS = (
    Command("batch_name", "JobBatchName", "string", "Name under which condor_q groups jobs."),
    Command("batch_id", "JobBatchId", "string", "Identity under which jobs are grouped."),
    Command("description", "JobDescription", "string", "A description that condor_q shows."),
    Command("submit_event_notes", "SubmitEventNotes", "string", "Notes in the submit event."),
    Command(
        "submit_event_notes_attrs",
        "SubmitEventNotesAttrs",
        "list",
        "Attributes of the job that the submit event shows.",
    ),
    Command("dag_node_name", "DAGNodeName", "string", "The node of a workflow that the job is."),
    Command("dagmanjobid", "DAGManJobId", "integer", "The cluster of the workflow's manager."),
    Command(
        "submit_event_user_notes",
        "SubmitEventUserNotes",
        "string",
        "The user's notes in the submit event.",
    ),
    Command(
        "ulog_execute_attrs",
        "UserLogExecuteEventAttrs",
        "list",
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

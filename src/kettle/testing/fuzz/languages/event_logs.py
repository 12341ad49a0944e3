"""Event logs in their three forms."""

from __future__ import annotations

from kettle.testing.fuzz.grammar import Grammar, Rules

_NUMBERS = ("0", "1", "-1", "005", "12", "4294967296", "99999999999999999999", "1.5", "", "x")
_TITLES = (
    *("Job submitted from host: <127.0.0.1:9618>", "Job executing on host: <127.0.0.1:9618?a=b>"),
    *("Job was evicted.", "Job terminated.", "Image size of job updated: `number`", "Shadow exception!"),
    *("Job was aborted.", "Job was suspended.", "Job was held.", "Job was released.", "Job was checkpointed."),
    *("Job ad information event triggered.", "Cluster removed", "Cluster submitted from host: <h>"),
    *("Job disconnected, attempting to reconnect", "Job reconnected to slot1@here", "Job reconnection failed"),
    *("File transfer: started transferring input files", "Reserved space", "Node `number` terminated.", "`text`"),
    *("(`number`) Job file not executable.", "Setting job attribute `text` to `text`", "Dataflow job was skipped."),
)  # fmt: skip
_LINES = (
    *("\t(1) Normal termination (return value `number`)", "\t(0) Abnormal termination (signal `number`)"),
    *("\t(1) Corefile in: `text`", "\t(0) No core file", "\t\t`usage`  -  Run Remote Usage", "\t\t`usage`  -  `text`"),
    *("\t`number`  -  Run Bytes Sent By Job", "\t`number`  -  `text`", "\tPartitionable Resources :    Usage  Request Allocated"),
    *("\t   Cpus                 :   `number`        `number`         `number`", "\t   `text` : `number`"),
    *("\t   Gpus (Average) : `number` `number` `number` \"`text`\"", "\t`number`  -  MemoryUsage of job (MB)"),
    *("\t`number`  -  ResidentSetSize of job (KB)", "\tReason unspecified", "\t`text`", "\tCode `number` Subcode `number`"),
    *("\tSlotName: slot1_1@here", '\t`text` = "`text`"', "\tCpus = `number`", "    `text`", "    DAG Node: `text`"),
    *("\t(1) Job was checkpointed.", "\t(0) CPU times", "\tJob terminated of its own accord at `stamp`.", "`text`", ""),
    *("\tNumber of processes actually suspended: `number`", "\tBytes reserved: `number`", "\tReservation expiration: `number`"),
    *("\tSeconds spent in queue: `number`", "\tMaterialized `number` jobs from `number` items.", "\tTransferring to host: `text`"),
    *("    startd address: `text`", "    Trying to reconnect to `text` `text`", "\tPOST script `text`", "\tError: `text`"),
)  # fmt: skip

_TEXTS: Rules = {
    "number": _NUMBERS,
    "text": ("", "a", "some words", "<1.2.3.4:5?a=b&c>", "é", '"', "...", "a = 1", "\t", "x\x00y", "slot1@h"),
    "kind": tuple(f"{number:03}" for number in (*range(50), 99, 999)),
    "stamp": ("2026-01-02T03:04:05Z", "2026-01-02 03:04:05", "2026-13-99T25:61:61", "x"),
    "usage": ("Usr `number` 00:00:0`number`, Sys 0 `number`:00:00", "Usr 0 00:01:02, Sys 1 23:59:59", "Usr"),
    "type": ("SubmitEvent", "ExecuteEvent", "JobTerminatedEvent", "JobHeldEvent", "GenericEvent", "FutureEvent", "x"),
    "key": (
        *("MyType", "EventTypeNumber", "Cluster", "Proc", "Subproc", "EventTime", "ReturnValue", "HoldReason"),
        *("TerminatedNormally", "RunRemoteUsage", "SentBytes", "SubmitHost", "Size", "TotalLocalUsage", "x"),
    ),
}  # fmt: skip

TEXT_EVENTS = Grammar(
    {
        **_TEXTS,
        "start": ("`event+`",),
        "event": (
            "`head``title`\n`body`...\n",
            "`head``title`\n`body`...\n",
            "`head``title`\n`body`",
            "`body`...\n",
        ),
        "head": (
            "`kind` (`number`.`number`.`number`) `date` ",
            *("`kind` (001.000.000) `date` ",) * 4,
            "`kind` ",
        ),
        "date": (
            *(
                "2026-01-02 03:04:05",
                "01/02 03:04:05",
                "2026-01-02 03:04:05.123",
                "2026-01-02 03:04:05Z",
            ),
            *(
                "2026-01-02T03:04:05",
                "02/30 24:60:61",
                "0000-00-00 00:00:00",
                "9999-12-31 23:59:59.999Z",
            ),
        ),
        "title": _TITLES,
        "body": ("`body_line*`",),
        "body_line": (*("`line`\n",) * 6, "`line`\r\n"),
        "line": _LINES,
    },
    "start",
)

JSON_EVENTS = Grammar(
    {
        **_TEXTS,
        "start": ("`event+`",),
        "event": ("{\n`members`\n}\n", '{\n  "MyType": "`type`",\n  "EventTypeNumber": `kind_number`,\n`members`\n}\n', "{}\n", "...\n", "{\n`members`\n"),
        "kind_number": ("0", "1", "5", "12", "99", "-1", "1.5", '"5"'),
        "members": ("`more_member*`  `member`",),
        "more_member": ("  `member`,\n",),
        "member": ('"`key`": `value`', '"EventTime": "`stamp`"', '"RunRemoteUsage": "`usage`"'),
        "value": ("`number`", '"`type`"', "true", "false", "null", '"a"', "{}", "[1, 2]", r'"\/Expr(a + 1)\/"', r'"\u00e9"', "\n{\n`members`\n}", "[\n`value`,\n{\n`members`\n},\n{\n}\n]"),
    },
    "start",
)  # fmt: skip

XML_EVENTS = Grammar(
    {
        **_TEXTS,
        "start": ("`event+`", "`event+`", '<?xml version="1.0"?>\n<classads>\n`event`', "`event``note`\n`event+`"),
        "event": ('<c>\n    <a n="MyType"><s>`type`</s></a>\n`members`</c>\n', "<c>\n`members`</c>\n", "<c/>\n", "<c>`members`", "< C >\n`members`</C >\n"),
        "members": ("`member_line*`",),
        "member_line": (*("    `member`\n",) * 4, "    `by_hand`\n"),
        "member": ('<a n="`key`">`value`</a>', '<a n="EventTime"><s>`stamp`</s></a>', '<a n="RunRemoteUsage"><s>`usage`</s></a>'),
        "value": (
            *("<i>`number`</i>", "<r>`number`</r>", "<s>a&lt;b&amp;</s>", '<b v="t"/>', "<e>a + 1</e>", "<l><i>1</i></l>", "<un/>", "<s>`type`</s>"),
            *("<s/>", "<i />", "<c>\n`member_line*`</c>", "<s>a`note`b</s>"),
        ),
        # What no program writes.
        "by_hand": (
            *("<a n='`key`'>`value`</a>", "<a n=`key`>`value`</a>", '<A N = "`key`" >`odd_value`</A>', '< a m="1" n="`key`">`value`< / a >'),
            *("`note``member`", '<a n="`key`">`note``value`', "<`blank+`", "`text``member``text`", '<a n="`key`">`odd_value`</a>'),
        ),
        "odd_value": ("<S>`type`</S>", "< s >`type`</ s >", "<I>`number`</I>", "<B V='f' />", "<b v=t/>", "<i>`number`x", "<z>`number`</z>", "<s/", ""),
        "note": ("<!-- `text` -->", "<!--`member`-->", "<!--\n<c>\n`member_line*`</c>\n-->", "<!--", "-->"),
        "blank": (" ", "\t", "\n"),
    },
    "start",
)  # fmt: skip

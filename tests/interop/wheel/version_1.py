"""What a program written for version 1 of the bindings does: transactions, queries, edits, events.

It is run with a wheel of HTCondor 24, the last that has version 1.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
import classad  # noqa: E402
import htcondor  # noqa: E402

folder = Path(sys.argv[1])
seen = {}
clusters = []


def plain(value):
    """Return a value as JSON can hold it."""
    if isinstance(value, classad.ClassAd):
        return {name: str(value.lookup(name)) for name in sorted(value.keys())}
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, int | float) and type(value) not in (int, float, bool):
        return str(value)
    if isinstance(value, int | float | str) or value is None:
        return value
    return type(value).__name__


def attempt(name, function, words=False):
    """Report what a function returned, or which exception it raised, with its words if wanted."""
    try:
        value = function()
    except Exception as error:
        kinds = [one.__name__ for one in type(error).__mro__[:-2]]
        told = {"text": str(error)} if words else {}
        seen[name] = {"raised": [one for one in kinds if one != "ArgumentError"], **told}
        return None
    seen[name] = plain(value)
    return value


def wait_for(function):
    """Return the first true value of a function."""
    for _ in range(600):
        if value := function():
            return value
        time.sleep(0.1)
    raise RuntimeError("it did not happen")


# Daemons.
collector = htcondor.Collector()
kinds = htcondor.DaemonTypes
attempt("locate", lambda: type(collector.locate(kinds.Schedd)).__name__)
name = collector.locateAll(kinds.Schedd)[0]["Name"]
attempt("locate named", lambda: collector.locate(kinds.Schedd, name)["Name"] == name)
attempt("locate nobody", lambda: collector.locate(kinds.Schedd, "nobody"), words=True)
attempt("locate all", lambda: [sorted(ad) for ad in collector.locateAll(kinds.Schedd)])
query = collector.query
masters = htcondor.AdTypes.Master
attempt("ads", lambda: [sorted(ad) for ad in query(masters, "true", ["Name", "MyType"])])
attempt("ads true", lambda: len(query(masters, True)))
attempt("ads tree", lambda: len(query(masters, classad.ExprTree("true"))))
attempt("ads none", lambda: len(query(masters, None)))
attempt("ads named", lambda: len(query(ad_type=masters, constraint="false", projection=["Name"])))
attempt("ads wrong", lambda: query(masters, "true &&"), words=True)
attempt("ads number", lambda: query(1))
attempt("direct", lambda: "Name" in collector.directQuery(kinds.Schedd, projection=["Name"]))
nowhere = htcondor.Collector("127.0.0.1:1")
attempt("nowhere", nowhere.query, words=True)
attempt("nowhere located", lambda: nowhere.locate(kinds.Schedd), words=True)
attempt("advertise", lambda: collector.advertise([classad.ClassAd({"Name": "x", "MyType": "G"})]))
attempt("advertise wrong", lambda: collector.advertise([classad.ClassAd()], "NO_SUCH"))
attempt("version", lambda: htcondor.version().split()[0])

# Descriptions.
HELD = {"executable": "/bin/sleep", "arguments": "60", "hold": True, "request_memory": "64M"}
sub = htcondor.Submit(HELD)
text = "executable=/bin/sleep\narguments=$(x)\nhold=true\nqueue 2 x in a,b"
listed = htcondor.Submit(text)
attempt("as text", lambda: str(sub))
attempt("as text too", lambda: str(listed))
attempt("keys", sub.keys)
attempt("items", sub.items)
attempt("one", lambda: (sub["hold"], sub.get("nothing", "x")))
attempt("none", lambda: sub["nothing"])
attempt("named", lambda: str(htcondor.Submit(HELD, priority="3")))
odd = {"a": 1, "b": 1.5, "c": True, "d": None, "f": classad.ExprTree("x+1")}
attempt("odd values", lambda: str(htcondor.Submit(odd)))
attempt("arguments", listed.getQArgs)
attempt("items of a list", lambda: list(listed.itemdata()))
attempt("items of none", lambda: list(sub.itemdata()))
attempt("expand", lambda: htcondor.Submit("a=1\nb=$(a)x").expand("b"))
attempt("no description", lambda: htcondor.Submit("foo bar\n"))
attempt("jobs", lambda: [(ad["ProcId"], ad["Args"]) for ad in listed.jobs(clusterid=7)])

# Transactions.
schedd = htcondor.Schedd()


def queued(what, description=sub, *given, **named):
    """Queue jobs in a transaction; report what they are."""
    with schedd.transaction() as txn:
        made = getattr(description, what)(txn, *given, **named)
    clusters.append(int(made))
    jobs = schedd.query(f"ClusterId == {clusters[-1]}", ["ProcId", "Args"])
    return type(made).__name__, [(ad["ProcId"], ad["Args"]) for ad in jobs]


attempt("queue", lambda: queued("queue"))
attempt("queue 3", lambda: queued("queue", sub, 3))
attempt("queue list", lambda: queued("queue", listed))
ads = []
attempt("queue ads", lambda: queued("queue", sub, 2, ad_results=ads))
attempt("the ads", lambda: [(ad["ClusterId"] == clusters[-1], ad["ProcId"]) for ad in ads])
two = [{"arguments": "1"}, {"arguments": "2"}]
attempt("with items", lambda: queued("queue_with_itemdata", sub, 1, iter(two)))
attempt("with items 2", lambda: queued("queue_with_itemdata", sub, 2, iter(two)))
attempt("without items", lambda: queued("queue_with_itemdata", htcondor.Submit(HELD), 2))


def several():
    """Queue two descriptions in one transaction."""
    other = htcondor.Submit({**HELD, "arguments": "7"})
    with schedd.transaction() as txn:
        made = [sub.queue(txn), other.queue(txn), sub.queue(txn, 2)]
    clusters.extend(made)
    return [one - made[0] for one in made], [
        len(schedd.query(f"ClusterId == {one}")) for one in made
    ]


attempt("several", several)


def again():
    """Queue one description again and again; it is one cluster where its jobs have no items."""
    one = htcondor.Submit({**HELD, "arguments": "$(Cluster) $(Process) $(Step)"})
    with schedd.transaction() as txn:
        made = [one.queue(txn, 2)]
        one["priority"], one["MY.Colour"] = "7", '"red"'
        made.append(one.queue(txn))
        one["priority"] = ""
        made.append(one.queue(txn, 2))
        ads = []
        made.append(one.queue(txn, 1, ads))
        items = htcondor.Submit({**HELD, "arguments": "$(x)"})
        items.setQArgs("x in (1, 2)")
        made.extend(items.queue(txn) for _ in range(2))
        made.append(one.queue(txn))
        made.append(int(one.queue_with_itemdata(txn, 1)))
        made.extend(one.queue(txn) for _ in range(2))
        made.append(htcondor.Submit(dict(one)).queue(txn))
    clusters.extend(made)
    names = ["ClusterId", "ProcId", "Args", "JobPrio", "Colour", "TotalSubmitProcs"]
    found = schedd.query(f"ClusterId >= {made[0]}", names)
    return (
        [number - made[0] for number in made],
        [(ad["ClusterId"] - made[0], ad["ProcId"], len(ad) > 40) for ad in ads],
        sorted(
            [
                *(job["ClusterId"] - made[0], job["ProcId"]),
                job["Args"].replace(str(job["ClusterId"]), "C"),
                *(job["JobPrio"], job.get("Colour", ""), job["TotalSubmitProcs"]),
            ]
            for job in found
        ),
    )


attempt("again", again)


def interrupted():
    """Queue a job and leave the transaction by an exception."""
    with schedd.transaction() as txn:
        clusters.append(sub.queue(txn))
        raise KeyError("stop")


attempt("interrupted", interrupted)
attempt("not there", lambda: schedd.query(f"ClusterId == {clusters[-1]}"))


# An item's values stay in the wheel's descriptions.
sub = htcondor.Submit(HELD)


def submitted(*given, **named):
    """Submit without a transaction of our own; report what came of it."""
    made = schedd.submit(*given, **named)
    clusters.append(int(made))
    jobs = schedd.query(f"ClusterId == {clusters[-1]}", ["ProcId", "Args"])
    return (
        *(type(made).__name__, made.num_procs(), made.first_proc(), made.cluster() == int(made)),
        *(type(made.clusterad()).__name__, str(made).split(" into ")[0], "\nCmd = " in str(made)),
        [(ad["ProcId"], ad.get("Args", "")) for ad in jobs],
    )


attempt("submit", lambda: submitted(sub))
attempt("submit 3", lambda: submitted(sub, count=3))
attempt("submit a list", lambda: submitted(listed))
attempt("submit items", lambda: submitted(sub, itemdata=iter(two)))
attempt("submit own items", lambda: submitted(listed, itemdata=listed.itemdata()))
attempt("submit nothing", lambda: submitted(htcondor.Submit({"arguments": "x"})))
attempt("submit a number", lambda: submitted(3), words=True)
raw = {"Cmd": "/bin/sleep", "Args": "5", "JobUniverse": 5, "JobStatus": 5, "HoldReason": "x"}


def of_ads():
    """Submit by ads."""
    made = [
        schedd.submit(classad.ClassAd(raw), 2),
        schedd.submitMany(classad.ClassAd(raw), [(classad.ClassAd({"Args": "6"}), 2)]),
    ]
    clusters.extend(made)
    return [
        [(ad["ProcId"], ad["Args"], ad["Cmd"]) for ad in schedd.query(f"ClusterId == {one}")]
        for one in made
    ]


attempt("of ads", of_ads)

# Queries, actions and edits.
one = clusters[0]
mine = f"ClusterId == {one}"
job = [f"{one}.0"]
attempt("projection", lambda: [sorted(ad) for ad in schedd.query(mine, ["ProcId"])])
attempt("older names", lambda: len(schedd.query(requirements=mine, attr_list=["ProcId"])))
attempt("callback", lambda: len(schedd.query(mine, ["ProcId"], lambda ad: ad["ProcId"])))
attempt("callback none", lambda: schedd.query(mine, ["ProcId"], lambda ad: None))
attempt("limit", lambda: len(schedd.query("true", ["ProcId"], limit=2)))
attempt("summary", lambda: schedd.query(opts=htcondor.QueryOpts.SummaryOnly)[0]["MyType"])
attempt("wrong", lambda: schedd.query("a &&"), words=True)
attempt("x", lambda: [ad["ProcId"] for ad in schedd.xquery(mine, ["ProcId"])])
attempt("x limit", lambda: len(list(schedd.xquery(projection=["ProcId"], limit=2))))
attempt("x names", lambda: [sorted(ad) for ad in schedd.xquery(mine, ["ProcId"])])
queries = [schedd.xquery(mine, name="q1"), schedd.xquery("false", name="q2")]


def polled():
    """Return what came of each query, however often it was heard of."""
    heard = {}
    for query in htcondor.poll(queries):
        count, _ = heard.get(query.tag(), (0, False))
        heard[query.tag()] = (count + len(query.nextAdsNonBlocking()), query.done())
    return sorted((tag, *of_it) for tag, of_it in heard.items())


attempt("poll", polled)
attempt(
    "edit",
    lambda: (lambda made: (type(made).__name__, int(made), str(made)))(
        schedd.edit(job, "Foo", "1 + 1")
    ),
)
attempt("edit tree", lambda: int(schedd.edit(job, "Foo", classad.ExprTree("2"))))
attempt("edit where", lambda: int(schedd.edit(mine, "Bar", "3")))
attempt("edit ad", lambda: int(schedd.edit(job, {"Baz": 1, "Text": "x"})))
attempt("edit nobody", lambda: schedd.edit("false", "Foo", "3"), words=True)
attempt(
    "edited",
    lambda: [
        schedd.query(mine)[0].lookup(name) and str(schedd.query(mine)[0].lookup(name))
        for name in ("Foo", "Bar", "Baz", "Text")
    ],
)
action = htcondor.JobAction
attempt("release", lambda: schedd.act(action.Release, job)["TotalSuccess"])
attempt("hold", lambda: schedd.act(action.Hold, mine, "why")["TotalSuccess"])
attempt("reason", lambda: schedd.query(mine, ["HoldReason"])[0]["HoldReason"].startswith("why"))
attempt("none", lambda: schedd.act(action.Hold, [])["TotalSuccess"])
attempt("tree", lambda: schedd.act(action.Release, classad.ExprTree(mine))["TotalSuccess"])
attempt("cluster", lambda: schedd.act(action.Hold, str(one))["TotalSuccess"])
attempt("no constraint", lambda: schedd.act(action.Hold, "bad &&"))
attempt("no action", lambda: schedd.act(1, job))
wanted = " || ".join(f"ClusterId == {one}" for one in clusters)
attempt("remove", lambda: schedd.act(action.Remove, wanted)["TotalSuccess"])
# A removed job leaves the queue a moment after the answer.
wait_for(lambda: list(schedd.history(mine, ["ClusterId"], 1)))
attempt(
    "history",
    lambda: [
        (ad["ClusterId"] == one, ad["JobStatus"])
        for ad in schedd.history(mine, ["ClusterId", "JobStatus"], 2)
    ],
)
attempt("history type", lambda: type(schedd.history(None, ["ClusterId"], 1)).__name__)

# Somewhere else.
ad = {"MyAddress": "<127.0.0.1:1>", "MyType": "Scheduler", "CondorVersion": htcondor.version()}
lost = htcondor.Schedd(classad.ClassAd({**ad, "Name": "x", "Machine": "x"}))
attempt("lost query", lambda: lost.query(), words=True)
attempt("lost act", lambda: lost.act(action.Hold, ["1.0"]), words=True)
attempt("lost edit", lambda: lost.edit(["1.0"], "a", "1"), words=True)
attempt("lost submit", lambda: lost.submit(sub), words=True)
attempt("lost transaction", lambda: lost.transaction().__enter__(), words=True)
attempt("nowhere at all", lambda: htcondor.Schedd(classad.ClassAd()), words=True)
attempt("location", lambda: type(schedd.location).__name__)
attempt(
    "ping", lambda: htcondor.SecMan().ping(collector.locate(kinds.Schedd), "WRITE")["AuthCommand"]
)
attempt("command", lambda: htcondor.SecMan().getCommandString(421))

# Events.
path = folder / "events.log"
run = {
    "executable": "/bin/sh",
    "arguments": "-c 'exit 3'",
    "transfer_executable": "false",
    "request_memory": "16M",
    "request_disk": "1M",
    "log": str(path),
}
last = schedd.submit(htcondor.Submit(run)).cluster()
log = htcondor.JobEventLog(str(path))


def told(event):
    """Return what can be seen of an event from outside."""
    return (
        *(event.cluster == last, event.proc, event.timestamp > 0, str(event.type)),
        *(repr(event).split(",")[0], sorted(event.keys()), event["MyType"]),
        *(event.get("nothing", 3), "Cluster" in event, type(event.items()).__name__),
        str(event).startswith(f"{int(event.type):03} ("),
    )


end = htcondor.JobEventType.JOB_TERMINATED
life = []
for event in log.events(stop_after=60):
    life.append(event)
    if event.type == end:
        break
attempt("first", lambda: told(life[0]))
attempt("last", lambda: told(life[-1]))
attempt("nothing of it", lambda: life[0]["nothing"])
attempt("value", lambda: life[-1]["ReturnValue"])
attempt("no more", lambda: list(log.events(0)))
attempt("no log", lambda: htcondor.JobEventLog("/no/such/log"))
with path.open() as file:
    attempt("older", lambda: next(ad["MyType"] for ad in htcondor.read_events(file)))
wait_for(lambda: list(schedd.history(f"ClusterId == {last}", ["ExitCode"], 1)))
attempt("exit", lambda: [ad["ExitCode"] for ad in schedd.history(f"ClusterId == {last}", [])])

# The wheel's schedd is of no use after this.
another = htcondor.Schedd()


def nested():
    """Begin a transaction in one."""
    with another.transaction(), another.transaction() as txn:
        return sub.queue(txn)


attempt("nested", nested, words=True)

# The configuration, users, enumerations.
attempt("param", lambda: (htcondor.param["NUM_CPUS"], htcondor.param.get("no_such")))
attempt("no param", lambda: htcondor.param["no_such"])
remote = htcondor.RemoteParam(collector.locate(kinds.Schedd))
attempt("remote", lambda: (remote["NUM_CPUS"], type(remote.keys()).__name__))
attempt("no remote", lambda: remote["no_such"])
negotiator = htcondor.Negotiator()
attempt("factor", lambda: negotiator.setFactor("a@b", 0.1), words=True)
attempt("no user", lambda: negotiator.setFactor("a", 10))
attempt("usage", lambda: negotiator.getResourceUsage("nobody@nowhere"))
for enumeration in (
    *(htcondor.AdTypes, htcondor.DaemonTypes, htcondor.JobAction, htcondor.JobEventType),
    *(htcondor.QueryOpts, htcondor.DaemonCommands, htcondor.LogLevel, htcondor.CredTypes),
    *(htcondor.DrainTypes, htcondor.TransactionFlags, htcondor.VacateTypes, htcondor.EntryType),
    *(htcondor.SubsystemType, htcondor.BlockingMode, htcondor.FileTransferEventType),
):
    attempt(
        f"members {enumeration.__name__}",
        lambda enumeration=enumeration: {
            name: int(one) for name, one in sorted(enumeration.names.items())
        },
    )
attempt("shown", lambda: (str(action.Hold), repr(action.Hold), f"{action.Hold}", action.Hold == 1))
json.dump(seen, sys.stdout, indent=1)
sys.stdout.flush()
# The wheel's own end is not always one.
os._exit(0)

"""Find the daemons, read their ads, ask what we may do, read their configuration."""

from __future__ import annotations

import classad2
import htcondor2
from steps import Steps, wait_for

steps = Steps()
collector = htcondor2.Collector()

# Every kind of daemon: the local one, all of them, one by name.
for kind in ("Collector", "Negotiator", "Schedd", "Startd", "Master", "Credd", "HAD"):
    daemon = getattr(htcondor2.DaemonType, kind)
    found = steps.attempt(
        f"locate {kind}",
        lambda daemon=daemon: sorted(
            {"AddressV1", "CondorVersion", "Machine", "MyAddress", "MyType", "Name"}
            & set(collector.locate(daemon))
        ),
    )
    every = steps.attempt(
        f"locateAll {kind}", lambda daemon=daemon: len(collector.locateAll(daemon))
    )
    if found and every:
        name = collector.locateAll(daemon)[0]["Name"]
        steps.attempt(
            f"locate {kind} by name",
            lambda daemon=daemon, name=name: collector.locate(daemon, name)["Name"] == name,
        )
        steps.attempt(
            f"directQuery {kind}",
            lambda daemon=daemon: collector.directQuery(daemon)["MyType"],
        )
        steps.attempt(
            f"directQuery {kind} projected",
            lambda daemon=daemon: (
                {"Name", "CondorVersion"}
                <= set(collector.directQuery(daemon, projection=["Name", "CondorVersion"]))
            ),
        )
steps.attempt("locate a missing name", collector.locate, htcondor2.DaemonType.Schedd, "no@such")

# Every kind of ad.
for kind in htcondor2.AdType:
    steps.attempt(
        f"query {kind.name}",
        lambda kind=kind: sorted({ad.get("MyType", "?") for ad in collector.query(kind)}),
    )
slots = htcondor2.AdType.Startd
steps.attempt("constraint", lambda: len(collector.query(slots, constraint="Cpus > 0")))
steps.attempt("constraint false", lambda: len(collector.query(slots, constraint="Cpus < 0")))
steps.attempt(
    "constraint tree",
    lambda: len(collector.query(slots, constraint=classad2.ExprTree("PartitionableSlot =?= true"))),
)
steps.attempt("constraint wrong", collector.query, slots, "Cpus >")
steps.attempt(
    "projection", lambda: sorted(collector.query(slots, projection=["Name", "Cpus", "Memory"])[0])
)
steps.attempt(
    "statistics",
    lambda: len(collector.query(htcondor2.AdType.Schedd, statistics="All:2")[0]) > 50,
)
steps.attempt("names of slots", lambda: sorted(ad["Name"] for ad in collector.query(slots)))

# Ads of our own.
mine = classad2.ClassAd({"MyType": "Generic", "Name": "wheel", "Colour": "blue"})
steps.attempt("advertise", collector.advertise, [mine], "UPDATE_AD_GENERIC")
steps.attempt(
    "advertised",
    lambda: [
        ad["Colour"]
        for ad in collector.query(htcondor2.AdType.Generic, constraint='Name == "wheel"')
    ],
)
# A UDP message has no answer.
sent = classad2.ClassAd({"MyType": "Generic", "Name": "by UDP"})
steps.attempt(
    "by UDP",
    lambda: [
        collector.advertise([sent], "UPDATE_AD_GENERIC", False),
        wait_for(
            "ad that came by UDP",
            lambda: len(collector.query(htcondor2.AdType.Generic, 'Name == "by UDP"')),
        ),
    ][1],
)
gone = classad2.ClassAd(
    {
        "MyType": "Query",
        "TargetType": "Generic",
        "Requirements": classad2.ExprTree('Name == "wheel"'),
    }
)
steps.attempt("invalidate", collector.advertise, [gone], "INVALIDATE_ADS_GENERIC")
steps.attempt(
    "invalidated",
    lambda: len(collector.query(htcondor2.AdType.Generic, constraint='Name == "wheel"')),
)
steps.attempt("advertise nonsense", collector.advertise, [mine], "UPDATE_NONSENSE")

# What we may do.
for kind in ("Collector", "Negotiator", "Schedd", "Startd", "Master"):
    where = collector.locate(getattr(htcondor2.DaemonType, kind))
    for level in ("READ", "WRITE", "ADMINISTRATOR", "DAEMON", "CONFIG", "NEGOTIATOR", "ALLOW"):
        steps.attempt(
            f"ping {kind} {level}",
            lambda where=where, level=level: {
                name: value
                for name, value in htcondor2.ping(where, level).items()
                if name in {"AuthCommand", "AuthorizationSucceeded"}
            },
        )
schedd_ad = collector.locate(htcondor2.DaemonType.Schedd)
steps.attempt("ping nothing named", lambda: sorted(htcondor2.ping(schedd_ad)))
steps.attempt("ping an address", lambda: len(htcondor2.ping(schedd_ad["MyAddress"], "WRITE")) > 5)
steps.attempt(
    "ping a command",
    lambda: htcondor2.ping(schedd_ad, "ACT_ON_JOBS")["AuthorizationSucceeded"],
)
steps.attempt("ping nonsense", htcondor2.ping, schedd_ad, "NONSENSE")
steps.attempt("ping nobody", htcondor2.ping, "<127.0.0.1:1>", "READ")

# Configuration: ours and the daemons'.
steps.attempt("param", lambda: htcondor2.param["SPOOL"].endswith("spool"))
steps.attempt("param typed", lambda: htcondor2.param["NEGOTIATOR_INTERVAL"] > 0)
steps.attempt("param missing", lambda: htcondor2.param["NO_SUCH_KNOB"])
steps.attempt("reload_config", htcondor2.reload_config)
for kind in ("Collector", "Negotiator", "Schedd", "Startd", "Master"):
    where = collector.locate(getattr(htcondor2.DaemonType, kind))
    steps.attempt(f"remote {kind}", lambda where=where: htcondor2.RemoteParam(where)["LOG"][-3:])
    steps.attempt(
        f"remote {kind} knobs", lambda where=where: len(htcondor2.RemoteParam(where)) > 100
    )
steps.attempt(
    "remote missing", lambda: htcondor2.RemoteParam(schedd_ad).get("NO_SUCH_KNOB", "default")
)
steps.attempt("remote set", htcondor2.RemoteParam(schedd_ad).__setitem__, "SCHEDD_DEBUG", "D_ALL")

# A word to a daemon.
schedd_ad = collector.query(htcondor2.AdType.Schedd)[0]
steps.attempt("reconfig", htcondor2.send_command, schedd_ad, htcondor2.DaemonCommand.Reconfig)
master_ad = collector.query(htcondor2.AdType.Master)[0]
steps.attempt("reconfig all", htcondor2.send_command, master_ad, htcondor2.DaemonCommand.Reconfig)
steps.attempt("send_alive", htcondor2.send_alive, master_ad, None, 600)
steps.attempt("send_alive to no parent", htcondor2.send_alive, schedd_ad, 1, 600)
steps.report()

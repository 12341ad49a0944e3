"""User and project records, credentials that are not there, and other rare commands."""

from __future__ import annotations

import classad2
import htcondor2
from htcondor2 import CredType
from steps import Steps

steps = Steps()
collector = htcondor2.Collector()
schedd = htcondor2.Schedd()
cluster = schedd.submit(htcondor2.Submit({"executable": "/bin/true", "hold": "true"})).cluster()
me = schedd.query(f"ClusterId == {cluster}")[0]["User"]
schedd.act(htcondor2.JobAction.Remove, cluster)

steps.attempt("users", lambda: [ad["User"] == me for ad in schedd.queryUserAds(f'User == "{me}"')])


def lasting(ad):
    """Return what a record always has: what counts jobs that are gone is there if any were."""
    gone = ("Total", "SchedulerTotal", "Completed", "Removed", "Hourly", "Daily")
    return sorted(name for name in ad if not name.startswith(gone))


steps.attempt("user names", lambda: lasting(schedd.queryUserAds(f'User == "{me}"')[0]))
steps.attempt(
    "projection", lambda: lasting(schedd.queryUserAds(f'User == "{me}"', ["User", "Enabled"])[0])
)
steps.attempt("limit", lambda: len(schedd.queryUserAds("", [], None, 1)))
domain = me.partition("@")[2]
other = f"wheeler@{domain}"
steps.attempt("add", lambda: schedd.addUserRec(other).get("Result"))
steps.attempt("add again", lambda: sorted(schedd.addUserRec(other)))
steps.attempt("added", lambda: [ad["Enabled"] for ad in schedd.queryUserAds(f'User == "{other}"')])
steps.attempt("disable", lambda: schedd.disableUserRec(other, "testing").get("Result"))
steps.attempt(
    "disabled",
    lambda: [
        (ad["Enabled"], ad.get("DisableReason")) for ad in schedd.queryUserAds(f'User == "{other}"')
    ],
)
steps.attempt("enable", lambda: schedd.enableUserRec(other).get("Result"))
steps.attempt(
    "enabled", lambda: [ad["Enabled"] for ad in schedd.queryUserAds(f'User == "{other}"')]
)
change = classad2.ClassAd({"User": other, "MaxJobsRunning": 5})
steps.attempt("update", lambda: schedd.updateUserRec([change]).get("Result"))
steps.attempt(
    "updated",
    lambda: [ad.get("MaxJobsRunning") for ad in schedd.queryUserAds(f'User == "{other}"')],
)
steps.attempt("remove", lambda: schedd.removeUserRec(other).get("Result"))
steps.attempt("removed", lambda: len(schedd.queryUserAds(f'User == "{other}"')))
steps.attempt("remove nobody", lambda: schedd.removeUserRec("nobody@nowhere").get("Result"))
steps.attempt("projects", lambda: len(schedd.queryProjectAds()))
steps.attempt("add project", lambda: schedd.addProjectRec("apollo").get("Result"))
steps.attempt("project", lambda: [ad.get("Name") for ad in schedd.queryProjectAds()])
steps.attempt("disable project", lambda: schedd.disableProjectRec("apollo", "done").get("Result"))
steps.attempt("enable project", lambda: schedd.enableProjectRec("apollo").get("Result"))
steps.attempt("remove project", lambda: schedd.removeProjectRec("apollo").get("Result"))

# No credd is here, and it is said.
steps.attempt("credd", htcondor2.Credd)
credd = htcondor2.Credd(collector.locate(htcondor2.DaemonType.Schedd))
steps.attempt("query password", credd.query_password)
steps.attempt("add password", credd.add_password, "secret")
steps.attempt("delete password", credd.delete_password)
keeper = htcondor2.Credd(collector.locate(htcondor2.DaemonType.Master))
steps.attempt("delete pool password", keeper.delete_password, "condor_pool@here")
steps.attempt("add pool password", keeper.add_password, "secret", "condor_pool@here")
steps.attempt("password elsewhere", keeper.query_password)
steps.attempt("query kerberos", credd.query_user_cred, CredType.Kerberos)
steps.attempt("add kerberos", credd.add_user_cred, CredType.Kerberos, b"abc")
steps.attempt("query oauth", credd.query_user_service_cred, CredType.OAuth, "scitokens")
steps.attempt("add oauth", credd.add_user_service_cred, CredType.OAuth, b"abc", "scitokens")
request = classad2.ClassAd({"Service": "scitokens"})
steps.attempt("check oauth", credd.check_user_service_creds, CredType.OAuth, [request])
steps.attempt("get oauth", credd.get_oauth2_credential, "scitokens", "")
steps.attempt("issue", lambda: htcondor2.Submit({"executable": "/bin/true"}).issue_credentials())
steps.attempt("placement", htcondor2.Placementd)
steps.attempt("proxy", schedd.refreshGSIProxy, 999999, 0, "/dev/null", 0)
steps.attempt("query ocu", lambda: schedd.query_ocu(classad2.ClassAd()))
steps.attempt("dag of nobody", lambda: htcondor2.DAGMan(999999).halt("x"))
steps.report()

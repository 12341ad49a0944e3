"""`Placementd`: tokens for users of an access point, at a daemon of HTCondor's that gives them.

Kettle has no such daemon; the commands are sent to one that is named.
"""

from __future__ import annotations

from typing import Final

from kettle.classad import ClassAd as Ad
from kettle.client.jobs import check_summary
from kettle.compat.classad2 import ClassAd
from kettle.compat.classad2.ads import of_engine
from kettle.compat.htcondor2.addresses import check_location, sinful_of
from kettle.compat.htcondor2.collector import Collector
from kettle.compat.htcondor2.daemon_enums import DaemonType
from kettle.compat.htcondor2.errors import said_as
from kettle.compat.htcondor2.process import PROCESS
from kettle.wire.commands import Command
from kettle.wire.messages import daemoncore

_UNREACHED: Final = "Failed to contact PlacementD"


class Placementd:
    """A placement daemon: this host's, or the one of a location ad."""

    def __init__(self, location: ClassAd | None = None) -> None:
        """Find this host's placement daemon, or take the one that was found."""
        if location is None:
            location = Collector().locate(DaemonType.Placementd)
        self._addr: str = check_location(location)["MyAddress"]

    def userLogin(  # noqa: N802
        self,
        username: str,
        authorizations: str,
        project: str | None = None,
        requester: str | None = None,
    ) -> ClassAd:
        """Have a token made for a user, on behalf of `requester`, else of the user."""
        request = Ad({"UserName": username, "Authorizations": authorizations})
        if project is not None:
            request["Project"] = project
        if requester is not None:
            request["Requester"] = requester
        answers = self._ask(Command.PLACEMENT_USER_LOGIN, request, single=True)
        return answers[0] if answers else ClassAd()

    def queryUsers(self, username: str | None = None) -> list[ClassAd]:  # noqa: N802
        """Return the users who may have tokens, or one of them."""
        return self._ask(Command.PLACEMENT_QUERY_USERS, _named(username))

    def queryTokens(  # noqa: N802
        self, username: str | None = None, valid_only: bool = False, token_id: str | None = None
    ) -> list[ClassAd]:
        """Return what is known of tokens that were made."""
        request = _named(username)
        request["ValidOnly"] = bool(valid_only)
        if token_id is not None:
            request["TokenId"] = token_id
        return self._ask(Command.PLACEMENT_QUERY_TOKENS, request)

    def queryAuthorizations(self, username: str | None = None) -> list[ClassAd]:  # noqa: N802
        """Return the authorizations that there are, or that a user has."""
        return self._ask(Command.PLACEMENT_QUERY_AUTHORIZATIONS, _named(username))

    def _ask(self, command: Command, request: Ad, *, single: bool = False) -> list[ClassAd]:
        """Send a request; return the ads of the answer, up to the summary that ends it."""
        found = []
        with (
            said_as(_UNREACHED),
            PROCESS.connector.connect(
                sinful_of(self._addr), command, force_authentication=True
            ) as stream,
        ):
            stream.send(daemoncore.Request(request))
            while True:
                ad = stream.receive().ad()
                if ad.string("MyType") == "Summary":
                    check_summary(ad)
                    break
                found.append(of_engine(ad))
                if single:
                    break
        return found


def _named(username: str | None) -> Ad:
    return Ad({} if username is None else {"UserName": username})

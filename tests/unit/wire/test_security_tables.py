"""Negotiation verdicts, authorization rules, map files, sessions, commands."""

from __future__ import annotations

import pytest

from kettle.errors import ConfigError, RemoteProtocolError
from kettle.levels import Level, implied_levels
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command, Daemon, find_command
from kettle.wire.security.authorization import Authorization
from kettle.wire.security.claim_id import ClaimId, mint_claim_id
from kettle.wire.security.identity import map_identity
from kettle.wire.security.mapfile import parse_mapfile, parse_prefix_map
from kettle.wire.security.negotiation import VERDICTS, Policy, Verdict, Wish, agree, read_policy
from kettle.wire.security.policy_ad import PolicyAd
from kettle.wire.security.session import Session, SessionCache
from stopwatch import cpu_seconds

ANYBODY = "unauthenticated@unmapped"


def authorization(**settings: str) -> Authorization:
    return Authorization.from_settings(settings.get, "SCHEDD")


def test_a_requirement_meets_a_refusal_in_both_directions() -> None:
    failing = {pair for pair, verdict in VERDICTS.items() if verdict is Verdict.FAIL}
    assert failing == {(Wish.REQUIRED, Wish.NEVER), (Wish.NEVER, Wish.REQUIRED)}
    assert len(VERDICTS) == 16


def test_the_newer_authentication_wish_counts() -> None:
    ad = PolicyAd({"Authentication": "REQUIRED", "AuthenticationNew": "OPTIONAL"})
    assert not agree(ad, Policy()).authenticate


def test_the_server_orders_the_methods_and_echoes_the_clients_spelling() -> None:
    ad = PolicyAd({"AuthMethods": "token,fs", "Authentication": "REQUIRED"})
    assert agree(ad, Policy(methods=("FS", "TOKEN"))).methods == ("fs", "token")


def test_durations_are_the_smaller_ones_and_no_lease_takes_the_others() -> None:
    ad = PolicyAd({"SessionDuration": "60", "SessionLease": 0, "Odd": "\x1e60\x1f"})
    assert ad.number("Odd") == 60
    agreement = agree(ad, Policy(session_seconds=100, lease_seconds=30))
    assert (agreement.session_seconds, agreement.lease_seconds) == (60, 30)


def test_a_levels_setting_beats_the_default_one() -> None:
    settings = {
        "SEC_DEFAULT_AUTHENTICATION": "REQUIRED",
        "SEC_READ_AUTHENTICATION": "never",
        "SEC_DEFAULT_AUTHENTICATION_METHODS": "IDTOKENS, fs",
        "SEC_DEFAULT_ENCRYPTION": "yes",
    }
    read = read_policy(settings.get, Level.READ)
    write = read_policy(settings.get, Level.WRITE)
    assert (read.authentication, write.authentication) == (Wish.NEVER, Wish.REQUIRED)
    assert write.methods == ("TOKEN", "FS")
    assert write.encryption is Wish.REQUIRED


def test_write_implies_read_and_daemon_implies_write() -> None:
    assert implied_levels(Level.DAEMON) == (Level.DAEMON, Level.WRITE, Level.READ)
    assert implied_levels(Level.NEGOTIATOR) == (Level.NEGOTIATOR, Level.READ)


@pytest.mark.parametrize(
    ("settings", "level", "user", "address", "allowed"),
    [
        ({}, "ALLOW", ANYBODY, "9.9.9.9", True),
        ({}, "READ", ANYBODY, "9.9.9.9", False),
        ({}, "DAEMON", "d@x", "9.9.9.9", False),
        ({"ALLOW_READ": "*"}, "READ", ANYBODY, "9.9.9.9", True),
        ({"ALLOW_DEFAULT": "*"}, "DAEMON", ANYBODY, "9.9.9.9", True),
        ({"ALLOW_WRITE": "alice@x"}, "READ", "alice@x", "9.9.9.9", True),
        ({"ALLOW_WRITE": "ALICE@X"}, "WRITE", "alice@x", "9.9.9.9", True),
        ({"ALLOW_WRITE": "alice@x/10.*"}, "WRITE", "alice@x", "9.9.9.9", False),
        ({"ALLOW_WRITE": "alice@x/10.*"}, "WRITE", "alice@x", "10.9.9.9", True),
        ({"ALLOW_WRITE": "*/10.0.0.0/8"}, "WRITE", ANYBODY, "10.2.3.4", True),
        ({"ALLOW_WRITE": "10.0.0.0/255.0.0.0"}, "WRITE", ANYBODY, "10.2.3.4", True),
        ({"ALLOW_WRITE": "*.example.org"}, "WRITE", ANYBODY, "9.9.9.9", True),
        ({"ALLOW_WRITE": "*@x"}, "WRITE", ANYBODY, "9.9.9.9", False),
        ({"ALLOW_WRITE": "*", "DENY_WRITE": "bob@x"}, "WRITE", "bob@x", "9.9.9.9", False),
        ({"ALLOW_WRITE": "*", "DENY_WRITE": "bob@x"}, "WRITE", "al@x", "9.9.9.9", True),
        ({"ALLOW_READ": "*", "DENY_READ": "*"}, "READ", "al@x", "9.9.9.9", False),
        ({"ALLOW_DAEMON": "d@x"}, "ADVERTISE_STARTD", "d@x", "9.9.9.9", True),
        ({"ALLOW_READ_SCHEDD": "a@x", "ALLOW_READ": "*"}, "READ", "b@x", "9.9.9.9", False),
        ({"ALLOW_DAEMON": "condor@x"}, "DAEMON", "condor_pool@y", "9.9.9.9", True),
        ({"ALLOW_READ": "[::1]"}, "READ", ANYBODY, "::1", True),
    ],
)
def test_rules_apply_in_their_order(
    settings: dict[str, str], level: str, user: str, address: str, allowed: bool
) -> None:
    names = ("n.example.org",)
    assert authorization(**settings).allows(Level(level), user, address, names) is allowed


def test_a_hole_grants_a_level_and_what_it_implies_until_it_is_removed() -> None:
    rules = authorization(DENY_DEFAULT="*")
    rules.add_hole(Level.DAEMON, "submit-side@matchsession")
    assert rules.allows(Level.READ, "submit-side@matchsession", "1.1.1.1")
    assert not rules.allows(Level.ADMINISTRATOR, "submit-side@matchsession", "1.1.1.1")
    rules.remove_hole(Level.DAEMON, "submit-side@matchsession")
    assert not rules.allows(Level.READ, "submit-side@matchsession", "1.1.1.1")


def test_a_proofs_limits_hold_whatever_the_lists_say() -> None:
    rules = authorization(ALLOW_DEFAULT="*")
    limits = frozenset((Level.READ,))
    assert rules.allows(Level.READ, "a@x", "1.1.1.1", limits=limits)
    assert not rules.allows(Level.WRITE, "a@x", "1.1.1.1", limits=limits)
    assert rules.levels_of("a@x", "1.1.1.1", limits=limits) == {Level.ALLOW, Level.READ}


MAPFILE = """
# comment
SSL "^/O=Test/CN=(.*)$" \\1@test
SSL (?i)^/o=other other@x
CLAIMTOBE alice@x bob@y
@include more
"""


def test_the_first_matching_line_of_a_method_counts() -> None:
    mapfile = parse_mapfile(MAPFILE, read_included=lambda name: [(name, "FS (.*) fs_\\1_\\0\n")])
    assert mapfile.map("SSL", "/O=Test/CN=client") == "client@test"
    assert mapfile.map("ssl", "/O=OTHER/CN=x") == "other@x"
    assert mapfile.map("CLAIMTOBE", "xalice@x") == "bob@y"
    assert mapfile.map("FS", "joe") == "fs_joe_joe"
    assert mapfile.map("FS_REMOTE", "joe") is None


def test_literal_keys_match_whole_names_only() -> None:
    mapfile = parse_mapfile("CLAIMTOBE alice@x bob@y\n", literal_keys=True)
    assert mapfile.map("CLAIMTOBE", "xalice@x") is None
    assert mapfile.map("CLAIMTOBE", "alice@x") == "bob@y"


@pytest.mark.parametrize(
    ("line", "principal", "becomes"),
    [
        (r"CLAIMTOBE /(.*)@domain/ \1@x", "a@domain", "a@x"),
        (r"CLAIMTOBE /^[\/](.*)$/ \1@x", "/a", "a@x"),
        (r"CLAIMTOBE /^\\\/(.*)$/ \1@x", "/a", "a@x"),
        (r"CLAIMTOBE /^x[\s](.*)$/ \1@x", "x a", "a@x"),
        (r"CLAIMTOBE /^x[\\s](.*)$/ \1@x", "x a", "a@x"),
        (r"CLAIMTOBE /^x (.*)$/ \1@x", "x a", "a@x"),
        (r"CLAIMTOBE /^A/i b@x", "a", "b@x"),
        (r"CLAIMTOBE /^A/ b@x", "a", None),
        (r"CLAIMTOBE /a b@x", "/a", "b@x"),
        (r'CLAIMTOBE "x y" b@x', "x y", "b@x"),
        (r'CLAIMTOBE "x.y" b@x', "x y", None),
        (r'CLAIMTOBE "x\"y\\" "b@x"', 'x"y\\', "b@x"),
    ],
)
def test_slashes_enclose_expressions_where_keys_are_literal(
    line: str, principal: str, becomes: str | None
) -> None:
    assert parse_mapfile(line, literal_keys=True).map("CLAIMTOBE", principal) == becomes


@pytest.mark.parametrize(
    ("line", "principal", "becomes"),
    [
        ("SSL /CN=J.*/i admin@x", "/CN=Joe User", None),
        ("SSL ^/CN=J.* admin@x", "/CN=Joe User", "admin@x"),
        ("SSL /CN=J.*/i admin@x", "/CN=Joe User/interim", "admin@x"),
        (r"SSL (.*)/CN=(.*) \2-\1-\3", "o/CN=u", r"u-o-\3"),
    ],
)
def test_slashes_are_a_part_of_expressions_where_keys_are_not_literal(
    line: str, principal: str, becomes: str | None
) -> None:
    """Recorded from HTCondor 25.14.1: condor_ping with CERTIFICATE_MAPFILE."""
    assert parse_mapfile(line).map("SSL", principal) == becomes


def test_the_pools_password_and_tokens_are_never_looked_up_in_a_map_file() -> None:
    mapfile = parse_mapfile("PASSWORD .* nobody@x\nTOKEN .* nobody@x\nFS .* nobody@x\n")

    def identity(method: str, name: str) -> str:
        return map_identity(method, name, name, uid_domain="dom", mapfile=mapfile)

    assert identity("PASSWORD", "condor@password") == "condor@password"
    assert identity("TOKEN", "ann@dom") == "ann@dom"
    assert identity("FS", "ann") == "nobody@x"


@pytest.mark.parametrize("text", ["SSL onlytwo\n", "SSL ( x\n"])
def test_a_bad_line_names_its_place(text: str) -> None:
    with pytest.raises(ConfigError, match="line 1 of mapfile"):
        parse_mapfile(text)


def test_a_line_with_u_takes_as_little_as_it_can() -> None:
    for letters, becomes in (("", "a,b"), ("U", "a"), ("iU", "a")):
        mapfile = parse_mapfile(f"SSL /^CN=(.+),.*$/{letters} \\1\n", literal_keys=True)
        assert mapfile.map("SSL", "CN=a,b,c") == becomes


def test_expressions_are_perl_s_and_names_of_any_letters() -> None:
    mapfile = parse_mapfile("SSL ^/CN=([[:alpha:]_]+)\\h(?<host>.*)\\z \\1@\\2\n")
    assert mapfile.map("SSL", "/CN=ann_b höst") == "ann_b@höst"


def test_computed_values_have_no_place_in_security_ads() -> None:
    for text in ("1 + 1", "{ 1 }", "Foo", '"a" + "b"'):
        body = Writer().integer(1).string(f"X = {text}").string("").string("").getvalue()
        with pytest.raises(RemoteProtocolError, match="literal"):
            PolicyAd.read(Reader(body))
    body = Writer().integer(101)
    for number in range(101):
        body.string(f"X{number} = 1")
    with pytest.raises(RemoteProtocolError, match="101 attributes"):
        PolicyAd.read(Reader(body.string("").string("").getvalue()))


def test_a_session_ends_with_its_time_or_its_lease() -> None:
    cache = SessionCache()
    cache.add(Session("a", None, expires_at=100.0, valid_commands=frozenset((5,))), address="<x>")
    leased = Session("b", None, lease_seconds=10)
    leased.renew(0.0)
    cache.add(leased)
    assert cache.find_for("<x>", 5, 50.0) is not None
    assert cache.find_for("<x>", 6, 50.0) is None
    assert cache.find("a", 100.0) is None
    assert cache.find("b", 9.0) is not None
    assert cache.find("b", 18.0) is not None
    assert cache.expire(29.0) == 1
    assert len(cache) == 0


def leased(session_id: str, *commands: int) -> Session:
    session = Session(session_id, None, lease_seconds=10, valid_commands=frozenset(commands))
    session.renew(0.0)
    return session


def test_a_session_that_is_only_named_lives_no_longer_for_that() -> None:
    cache = SessionCache()
    for each in (leased("a", 5), leased("b", 6)):
        cache.add(each, address="<x>")
    named = cache.look_up("a", 9.0)
    assert named is not None
    assert [one.id for one in cache.sessions()] == ["a", "b"]
    # The one that fits is used, and those that were looked at before it are not.
    assert cache.find_for("<x>", 6, 9.0) is not None
    assert cache.look_up("a", 10.0) is None
    assert [one.id for one in cache.sessions()] == ["b"]
    assert cache.find_for("<x>", 6, 18.0) is not None


def test_a_use_of_a_session_that_another_has_replaced_is_not_the_others() -> None:
    cache = SessionCache()
    first = leased("a")
    for each in (first, leased("a"), leased("b")):
        cache.add(each)
    cache.use(first, 5.0)
    assert [one.id for one in cache.sessions()] == ["a", "b"]
    assert cache.look_up("a", 10.0) is None


def test_a_session_is_found_where_it_leads_to_now_and_nowhere_else() -> None:
    cache = SessionCache()
    cache.add(leased("a", 5), address="<x>")
    cache.add(leased("a", 5), address="<y>")
    assert cache.find_for("<x>", 5, 1.0) is None
    assert cache.find_for("<y>", 5, 1.0) is not None
    cache.forget("a")
    assert cache.find_for("<y>", 5, 1.0) is None


def test_the_oldest_session_goes_when_the_cache_is_full() -> None:
    cache = SessionCache(maximum=2)
    for name in "abc":
        cache.add(Session(name, None), address="<x>")
    assert [one.id for one in cache.sessions()] == ["b", "c"]


def test_a_flood_of_sessions_costs_nobody_else_theirs() -> None:
    cache = SessionCache(maximum=4)
    cache.add(Session("family", None, user="condor@family"))
    cache.add(Session("alice", None, user="alice@pool"))
    for number in range(50):
        cache.add(Session(f"flood{number}", None, user="mallory@pool"))
    assert [one.id for one in cache.sessions()] == ["family", "alice", "flood48", "flood49"]
    # Of his own the one goes that was used least recently.
    assert cache.find("flood48", 0.0) is not None
    cache.add(Session("flood50", None, user="mallory@pool"))
    assert [one.id for one in cache.sessions()] == ["family", "alice", "flood48", "flood50"]


def test_a_session_that_becomes_anothers_is_counted_as_theirs() -> None:
    cache = SessionCache(maximum=2)
    cache.add(Session("a", None, user="alice@pool"))
    cache.add(Session("a", None, user="bob@pool"))
    cache.forget("a")
    for name in "bcd":
        cache.add(Session(name, None, user="bob@pool"))
    assert [one.id for one in cache.sessions()] == ["c", "d"]


def test_claim_ids_never_show_their_secret() -> None:
    claim = mint_claim_id("<1.2.3.4:5?addrs=[--1]-5#x>", 10, 3, bytes(32))
    assert claim.public == "<1.2.3.4:5?addrs=[--1]-5#x>#10#3#..."
    assert claim.secret == "00" * 32
    assert "00000000" not in f"{claim} {claim!r}"
    assert claim.policy()["cryptomethodslist"] == "AES"
    assert not ClaimId("<1.2.3.4:5>#1#2#secret").has_session


def test_the_command_table_knows_levels_and_names() -> None:
    assert Command.RESCHEDULE.levels(Daemon.SCHEDD) == (Level.WRITE,)
    assert Level.ADVERTISE_SCHEDD in Command.RESCHEDULE.levels(Daemon.NEGOTIATOR)
    assert Command.QMGMT_WRITE_CMD.force_authentication
    assert not Command.QMGMT_READ_CMD.force_authentication
    assert Daemon.MASTER in Command.DC_RECONFIG.daemons
    assert find_command(123456) is None
    for command in Command:
        assert command.doc[-1] in ".?"
        assert command.levels()


@pytest.mark.parametrize("filler", ["Word", " ", "a ", 'a="', "a=", "1", "=;"])
def test_a_claim_id_of_any_text_is_read_in_one_pass(filler: str) -> None:
    text = filler * (60_000 // len(filler))
    claim = f'<1.2.3.4:5>#1#2#[Encryption="YES";{text}]ab'
    assert cpu_seconds(lambda: ClaimId(claim).policy(), below=1) < 1


def test_a_map_of_beginnings_gives_the_longest_one_and_reads_no_patterns() -> None:
    text = '* s3://a/ one,-x,\\0\n* s3://a/b two,\\0\n* "/m/.*/ x" three\n'
    found = parse_prefix_map(text)
    assert found.map("*", "s3://a/c") == "one,-x,s3://a/"
    assert found.map("*", "s3://a/bc") == "two,s3://a/b"
    assert found.map("*", "/m/1/ x") is None
    assert found.map("*", "/m/.*/ xy") == "three"
    assert parse_prefix_map("* /m/ four").map("*", "/m/x") == "four"
    with pytest.raises(ConfigError, match="line 1 of maps"):
        parse_prefix_map("* s3://a", source="maps")

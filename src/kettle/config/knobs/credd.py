"""Knobs of credentials and their daemon: a pure table."""

from kettle.config.knob import boolean, integer, listing, path, place, seconds, size, string
from kettle.config.ranges import COUNT, OR_NONE


class CreddKnobs:
    """Knobs of credentials and their daemon."""

    BOX_AUTHORIZATION_URL = string(
        "https://account.box.com/api/oauth2/authorize",
        doc="Known text.",
        unread=True,
    )
    BOX_TOKEN_URL = string(
        "https://api.box.com/oauth2/token",
        doc="Known text.",
        unread=True,
    )
    CONDOR_CREDENTIAL_DIR = path("/tmp", doc="Known path.", unread=True)
    CREDD = place("$(SBIN)/condor_credd", doc="The credential daemon's program.")
    CREDD_ADDRESS_FILE = path(
        "$(LOG)/.credd_address",
        doc="Known path.",
        unread=True,
    )
    CREDD_CACHE_LOCALLY = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CREDD_DEBUG = listing(
        "D_FULLDEBUG",
        doc="Known list of words.",
        unread=True,
    )
    CREDD_HOST = string(
        "",
        doc="Host whose daemon keeps users' credentials: there its pool password is set.",
    )
    CREDD_LOG = path("$(LOG)/CredLog", doc="Known path.", unread=True)
    CREDD_OAUTH_MODE = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CREDD_POLLING_TIMEOUT = seconds(
        "20",
        sense=COUNT,
        doc="How long to wait for a credential to become ready, in seconds.",
    )
    CREDMON_ALLOW_SPECIAL_CHAR_NAMES = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CREDMON_KRB = path(
        "$(SBIN)/condor_credmon_krb",
        doc="Known path.",
        unread=True,
    )
    CREDMON_OAUTH = path(
        "$(SBIN)/condor_credmon_oauth",
        doc="Known path.",
        unread=True,
    )
    CRED_MIN_TIME_LEFT = integer(
        "120",
        doc="Known and checked as a number.",
        unread=True,
    )
    CRED_SUPER_USERS = listing("", doc="Known list of words.", unread=True)
    DROPBOX_AUTHORIZATION_URL = string(
        "https://www.dropbox.com/oauth2/authorize",
        doc="Known text.",
        unread=True,
    )
    DROPBOX_TOKEN_URL = string(
        "https://api.dropboxapi.com/oauth2/token",
        doc="Known text.",
        unread=True,
    )
    GDRIVE_AUTHORIZATION_URL = string(
        "https://accounts.google.com/o/oauth2/v2/auth",
        doc="Known text.",
        unread=True,
    )
    GDRIVE_TOKEN_URL = string(
        "https://oauth2.googleapis.com/token",
        doc="Known text.",
        unread=True,
    )
    LOCAL_CREDMON_TOKEN_AUDIENCE = string("", doc="Known text.", unread=True)
    LOCAL_CREDMON_TOKEN_USE_JSON = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    LOCAL_CREDMON_TOKEN_VERSION = string(
        "scitoken:2.0",
        doc="Known text.",
        unread=True,
    )
    MAX_CREDD_LOG = size(
        "$(MAX_DEFAULT_LOG)",
        doc="Known text.",
        unread=True,
    )
    ONEDRIVE_AUTHORIZATION_URL = string(
        "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
        doc="Known text.",
        unread=True,
    )
    ONEDRIVE_TOKEN_URL = string(
        "https://login.microsoftonline.com/common/oauth2/v2.0/token",
        doc="Known text.",
        unread=True,
    )
    SEC_CREDENTIAL_PRODUCER = path(
        None, doc="The program that makes a user's credential; the Python bindings run it."
    )
    SEC_CREDENTIAL_REFRESH_INTERVAL = seconds(
        "-1",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    SEC_CREDENTIAL_SWEEP_DELAY = seconds(
        "3600",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    SEC_CREDENTIAL_SWEEP_INTERVAL = seconds(
        "300",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    TRUSTED_VAULT_HOSTS = listing("", doc="Known list of words.", unread=True)

"""Knobs of authentication, authorization and encryption: a pure table."""

from kettle.config.families import NOBODY
from kettle.config.knob import (
    boolean,
    expression,
    family,
    integer,
    listing,
    path,
    place,
    seconds,
    string,
)
from kettle.config.ranges import AS_IT_IS, COUNT, OR_NONE

# What SEC_<context>_CRYPTO_METHODS is a list of; how many of them we speak is the wire's affair.
CRYPTO_METHODS = ["AES", "BLOWFISH", "3DES", "TRIPLEDES"]


class SecurityKnobs:
    """Knobs of authentication, authorization and encryption."""

    ALLOW_ADMIN_COMMANDS = boolean(
        "true",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ALLOW_CLIENT = listing(
        "*",
        strictest=NOBODY,
        doc="Which daemons a program of this machine may speak to.",
    )
    AUTH_SSL_ALLOW_CLIENT_PROXY = boolean(
        "false",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    AUTH_SSL_AUTOGENERATE_CERTFILE = place(
        "$(ETC)/hostcert.pem",
        doc="A certificate that AUTH_SSL_SERVER_CERTFILE names.",
    )
    AUTH_SSL_AUTOGENERATE_KEYFILE = place(
        "$(ETC)/hostkey.pem",
        doc="A key that AUTH_SSL_SERVER_KEYFILE names.",
    )
    AUTH_SSL_CLIENT_CADIR = string("", doc="Folder of the authorities that clients trust.")
    AUTH_SSL_CLIENT_CAFILE = string("", doc="File of the authorities that clients trust.")
    AUTH_SSL_CLIENT_CERTFILE = path(
        None, doc="The certificate that tools and daemons show to others."
    )
    AUTH_SSL_CLIENT_KEYFILE = path(None, doc="The key of that certificate.")
    AUTH_SSL_CLIENT_USE_DEFAULT_CAS = boolean(
        "true",
        doc="Whether clients trust the system's authorities too.",
    )
    AUTH_SSL_REQUIRE_CLIENT_CERTIFICATE = boolean(
        "false",
        strictest="true",
        doc="Whether SSL asks clients for a certificate, or only takes one.",
    )
    AUTH_SSL_REQUIRE_CLIENT_MAPPING = boolean(
        "false",
        strictest="true",
        doc="Whether a client by SSL must be named by the map file.",
    )
    AUTH_SSL_SERVER_CADIR = string("", doc="Folder of the authorities that daemons trust.")
    AUTH_SSL_SERVER_CAFILE = string("", doc="File of the authorities that daemons trust.")
    AUTH_SSL_SERVER_CERTFILE = string(
        "/etc/pki/tls/certs/localhost.crt,$(AUTH_SSL_AUTOGENERATE_CERTFILE)",
        doc="Certificates of daemons; the first that can be read counts.",
    )
    AUTH_SSL_SERVER_KEYFILE = string(
        "/etc/pki/tls/private/localhost.key,$(AUTH_SSL_AUTOGENERATE_KEYFILE)",
        doc="Keys of these certificates, in the same order.",
    )
    AUTH_SSL_SERVER_USE_DEFAULT_CAS = boolean(
        "true",
        doc="Whether daemons trust the system's authorities too.",
    )
    AUTH_SSL_USE_CLIENT_PROXY_ENV_VAR = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    AUTH_SSL_USE_VOMS_IDENTITY = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    BOOTSTRAP_SSL_SERVER_TRUST = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    BOOTSTRAP_SSL_SERVER_TRUST_PROMPT_USER = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    CERTIFICATE_MAPFILE = string("", doc="The file that maps authenticated names to users.")
    CERTIFICATE_MAPFILE_ASSUME_HASH_KEYS = boolean(
        "false",
        doc="Whether names in it are plain texts unless they stand between slashes.",
    )
    COLLECTOR_BOOTSTRAP_SSL_CERTIFICATE = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DISABLE_AUTHENTICATION_IP_CHECK = boolean(
        "false",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    DISCARD_SESSION_KEYRING_ON_STARTUP = boolean(
        "true",
        strictest="true",
        doc="Whether the master leaves the kernel's session keyring of whoever started it, so that "
        "no job reaches the keys there, and, in a pool that root started, jobs of different claims "
        "share none. The new one has no name; HTCondor's is `htcondor`.",
    )
    ENABLE_PERSISTENT_CONFIG = boolean(
        "false",
        strictest="false",
        doc="Whether knobs of running daemons may be set with `-set`, for good.",
    )
    ENABLE_RUNTIME_CONFIG = boolean(
        "false",
        strictest="false",
        doc="Whether knobs of running daemons may be set with `-rset`.",
    )
    ENCRYPT_SECRETS = boolean(
        "true",
        strictest="true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    FILESYSTEM_DOMAIN = string(
        "$(FULL_HOSTNAME)",
        doc="Machines with the same word share files.",
    )
    FS_ALLOW_UNSAFE = boolean(
        "false",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    FS_LOCAL_DIR = place(
        "",
        unset="/tmp",
        doc="The folder in which FS authentication makes its folders; the system's by default.",
    )
    FS_REMOTE_DIR = place(
        "", doc="The folder, shared by client and server, for authentication by FS_REMOTE."
    )
    FS_ROOT_TO_CONDOR = boolean(
        "true",
        strictest="false",
        doc="Whether root counts as the condor account when it authenticates by FS.",
    )
    HAVE_EXT_KRB5 = integer(
        "1",
        doc="Known and checked as a number.",
        unread=True,
    )
    KERBEROS_MAP_FILE = path("", doc="Known path.", unread=True)
    KEYRING_SESSION_CREATION_TIMEOUT = seconds(
        "20",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    MAX_REMAP_RECURSIONS = integer(
        "128",
        doc="Known and checked as a number.",
        unread=True,
    )
    PERSISTENT_CONFIG_DIR = place("", doc="Where daemons keep what `-set` has set in them.")
    RUNTIME_CONFIG_ADMIN = string(
        "", doc="The names that `-set` has set, in the file that keeps them."
    )
    SEC_ACCEPT_CAPABILITY_TOKENS = boolean(
        "false",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SEC_CLAIMTOBE_INCLUDE_DOMAIN = boolean(
        "true",
        doc="Whether CLAIMTOBE names a domain, and the map file is asked for `user@domain`.",
    )
    SEC_CLAIMTOBE_USER = string(
        "", doc="The name that CLAIMTOBE authentication claims; the account's by default."
    )
    SEC_DEBUG_PRINT_KEYS = boolean(
        "false",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SEC_DEFAULT_AUTHENTICATION_METHODS = listing(
        "FS,IDTOKENS,KERBEROS,SCITOKENS,SSL",
        strictest="FS",
        doc="Authentication methods, best first, where nothing else is set.",
    )
    SEC_DEFAULT_AUTHENTICATION_TIMEOUT = seconds(
        "20",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    SEC_ENABLE_IMPERSONATION_TOKENS = boolean(
        "false",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SEC_ENABLE_MATCH_PASSWORD_AUTHENTICATION = boolean(
        "true",
        strictest="false",
        doc="Whether the schedd's submitter ads bring its negotiators a session of their own, so "
        "that the schedd need not know who they are.",
    )
    SEC_ENABLE_REMOTE_ADMINISTRATION = boolean(
        "true",
        strictest="false",
        doc="Whether daemons give their collectors a key with which the pool's administrators may "
        "command them, though the daemons do not know them.",
    )
    SEC_ENABLE_SCITOKEN_EXCHANGE = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SEC_ENABLE_TOKEN_FETCH = boolean(
        "true",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SEC_ENABLE_TOKEN_REQUEST = boolean(
        "true",
        strictest="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SEC_IMPERSONATION_TOKEN_LIMITS = string("", doc="Known text.", unread=True)
    SEC_ISSUED_TOKEN_EXPIRATION = seconds(
        "",
        unset="-1",
        sense=OR_NONE,
        instead=AS_IT_IS,
        strictest="1",
        doc="How long an issued token is valid at most, in seconds; -1 for ever.",
    )
    SEC_PASSWORD_DIRECTORY = place(
        "$(ETC)/passwords.d",
        doc="Where the keys that sign tokens are.",
    )
    SEC_PASSWORD_DOMAIN = string(
        "", doc="The domain of the pool's password, in place of UID_DOMAIN."
    )
    SEC_PASSWORD_FILE = place(
        "$(SEC_PASSWORD_DIRECTORY)/POOL",
        doc="The pool password.",
    )
    SEC_SCITOKENS_ALLOW_FOREIGN_TOKEN_TYPES = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SEC_SCITOKENS_CACHE = path("$(RUN)/cache", doc="Known path.", unread=True)
    SEC_SCITOKENS_FOREIGN_TOKEN_ISSUERS = string(
        "https://aai-dev.egi.eu/auth/realms/egi",
        doc="Known text.",
        unread=True,
    )
    SEC_SESSION_DURATION_SLOP = seconds(
        "20",
        within=COUNT,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    SEC_SYSTEM_KNOWN_HOSTS = listing(
        "$(ETC)/known_hosts",
        doc="Known list of words.",
        unread=True,
    )
    SEC_TCP_SESSION_TIMEOUT = seconds(
        "20",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    SEC_TOKEN_AP_SIGNING_KEY_NAME = string(
        "AP",
        doc="Known text.",
        unread=True,
    )
    SEC_TOKEN_DIRECTORY = place(
        "", doc="Where a person's tokens are; `~/.condor/tokens.d` by default."
    )
    SEC_TOKEN_FETCH_ALLOWED_SIGNING_KEYS = string(
        "POOL AP",
        strictest="(none)",
        doc="Keys that tokens may be fetched from daemons for.",
    )
    SEC_TOKEN_ISSUER_KEY = string("POOL", doc="The key that daemons sign tokens with.")
    SEC_TOKEN_MAX_AGE = seconds(
        "",
        unset="-1",
        sense=OR_NONE,
        strictest="1",
        doc="How old a token may be, in seconds; -1 for any age.",
    )
    SEC_TOKEN_POOL_SIGNING_KEY_FILE = place(
        "$(SEC_PASSWORD_FILE)",
        doc="The file of the key POOL.",
    )
    SEC_TOKEN_REQUEST_LIMITS = string("", doc="Known text.", unread=True)
    SEC_TOKEN_REVOCATION_EXPR = expression(
        "",
        strictest="true",
        doc="Which tokens are not valid any more.",
    )
    SEC_TOKEN_SYSTEM_DIRECTORY = place(
        "$(ETC)/tokens.d",
        doc="Where the daemons' tokens are.",
    )
    SEC_USE_FAMILY_SESSION = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SEC_USE_LOW_DATA_MODE = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SEC_USE_TOKENS_DATABASE = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SETTABLE_ATTRS_ADMINISTRATOR = string(
        "", doc="Names that administrators may set with `-rset`; `*` stands for any letters."
    )
    SETTABLE_ATTRS_CONFIG = string(
        "", doc="Names that who has the level CONFIG may set with `-rset`."
    )
    SOFT_UID_DOMAIN = boolean(
        "",
        unset="false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SSL_SKIP_HOST_CHECK = boolean(
        "false",
        doc="Whether a daemon's certificate may name another host.",
    )
    TRUST_DOMAIN = string("$(UID_DOMAIN)", doc="The issuer whose tokens this pool accepts.")
    TRUST_DOMAIN_CAFILE = path(
        "$(ETC)/trust_domain_ca.pem",
        doc="Known path.",
        unread=True,
    )
    TRUST_DOMAIN_CAKEY = path(
        "$(ETC)/trust_domain_ca_privkey.pem",
        doc="Known path.",
        unread=True,
    )
    TRUST_LOCAL_UID_DOMAIN = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    TRUST_UID_DOMAIN = boolean(
        "",
        unset="false",
        strictest="false",
        doc="Whether UID_DOMAIN is believed although it is not the host's domain.",
    )
    UID_DOMAIN = string(
        "$(FULL_HOSTNAME)", doc="Machines with the same word have the same accounts."
    )
    USER_MAPFILE = string("", doc="Known text.", unread=True)
    USE_KEYRING_SESSIONS = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    USE_POOL_USERNAME_EQUIVALENT = boolean(
        None, unset="true", strictest="false", doc="Whether condor and condor_pool are one user."
    )
    USE_VOMS_ATTRIBUTES = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    ALLOW = family(
        "ALLOW_{level}",
        listing,
        "",
        strictest=NOBODY,
        doc="Who may give commands of an authorization level: users, hosts, or user/host.",
    )
    DENY = family(
        "DENY_{level}",
        listing,
        "",
        strictest="*",
        doc="Who may not give commands of an authorization level, whatever ALLOW says.",
    )
    SEC_AUTHENTICATION = family(
        "SEC_{context}_AUTHENTICATION",
        string,
        "",
        strictest="REQUIRED",
        doc=(
            "Whether connections of a level or direction authenticate: REQUIRED, PREFERRED, "
            "OPTIONAL or NEVER."
        ),
    )
    SEC_ENCRYPTION = family(
        "SEC_{context}_ENCRYPTION",
        string,
        "",
        strictest="REQUIRED",
        doc="Whether connections of a level or direction are encrypted.",
    )
    SEC_INTEGRITY = family(
        "SEC_{context}_INTEGRITY",
        string,
        "",
        strictest="REQUIRED",
        doc="Whether connections of a level or direction are protected against change.",
    )
    SEC_NEGOTIATION = family(
        "SEC_{context}_NEGOTIATION",
        string,
        "",
        strictest="REQUIRED",
        doc="Whether security is negotiated before a command of a level or direction.",
    )
    SEC_AUTHENTICATION_METHODS = family(
        "SEC_{context}_AUTHENTICATION_METHODS",
        listing,
        "",
        strictest="FS",
        doc="Which methods a level or direction accepts, best first.",
    )
    SEC_AUTHENTICATION_TIMEOUT = family(
        "SEC_{context}_AUTHENTICATION_TIMEOUT",
        seconds,
        "20",
        sense=OR_NONE,
        doc="Known and checked as a span of seconds.",
        unread=True,
    )
    SEC_CRYPTO_METHODS = family(
        "SEC_{context}_CRYPTO_METHODS",
        listing,
        "",
        doc="Which ciphers a level or direction accepts, best first.",
    )
    SEC_SESSION_DURATION = family(
        "SEC_{context}_SESSION_DURATION",
        seconds,
        "86400",
        sense=COUNT,
        instead="the default counts",
        doc="How long a session of a level or direction lives.",
    )
    SEC_SESSION_LEASE = family(
        "SEC_{context}_SESSION_LEASE",
        seconds,
        "3600",
        sense=COUNT,
        instead="the default counts",
        doc="How long a session lives after its last use.",
    )

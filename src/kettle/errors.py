"""The one error tree.

A bug is an assertion; ImpossibleTransition, which the machines raise, names one kind. An error in
an expression is a value (UNDEFINED, ERROR). What is here else is the third kind: operating errors,
which name the place, the thing and, where there is one, the nearest right thing.

    KettleError
    ├── UsageError             a command line that makes no sense
    ├── LanguageError          text of ours or the user's that does not parse
    │   ├── ClassAdSyntaxError
    │   ├── ConfigError
    │   │   └── EndingConfigError      nothing can be done without knowing better
    │   ├── SubmitError
    │   │   └── StatementError         a line of a submit file, not a job
    │   └── TransformError
    ├── WireError              a connection that cannot go on
    │   ├── LocalProtocolError     we misused the machine
    │   ├── RemoteProtocolError    the peer sent what it must not
    │   ├── ConnectionLost         the peer is gone, or too slow
    │   │   └── NotConnected           nobody was there in the first place (Unreached, too)
    │   ├── Unreached              nothing could be said there
    │   │   └── AuthenticationFailed
    │   │       └── SessionUnknown     the server has forgotten the session: connect anew
    │   └── AuthorizationDenied
    ├── WaitInterrupted        a wait that somebody here ended; the connection goes on
    ├── StorageError           a file that cannot be read, written or trusted
    │   ├── ChangedError           what has to stay as it is has changed, or is gone
    │   └── NotMade                nothing was made: something is there, or may not be
    ├── RefusedError           a daemon said no, with a code and a reason
    │   └── NotCommitted           to all that was asked together
    ├── NotForked              the machine made no process, whatever it was to be
    └── NotFoundError          a job, a daemon or a file that is not there
        ├── NotKnownNow            an account that may be found later
        └── UnknownHostError       a host whose name has no address

What an error is about are fields: whoever decides anything by an error looks at its class and at
these. `message` is for people; nobody takes it apart (tests/tidy/test_errors_are_fields.py).
"""

from __future__ import annotations


class KettleError(Exception):
    """An operating error: a sentence for a person, and a hint what to do about it.

    `message` says where and what; `hint` names the nearest right thing, empty if there is none.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class ImpossibleTransition(AssertionError):  # noqa: N818 - it names a bug, not an operating error
    """An event that a machine's table has no row for: a bug, told with the machine's story."""


class UsageError(KettleError):
    """A command line that makes no sense."""


class Form:
    """How a remark tells its place; `kettle.config.remarks` has the words."""

    # It does not, or has it among its words.
    PLAIN = "plain"
    # Before it: the file and its line, of an included file how deep in others, too.
    PLACED = "placed"
    # Behind the word for what is read, a configuration or a submit description; it tells the file.
    MARKED = "marked"
    # A statement of a template said it, which has no place of its own.
    STATED = "stated"
    # The head of a complaint: the text is what was being read.
    READING = "reading"
    # What a template of a submit description said, behind the place where that uses it.
    BEHIND = "behind"


class Remark:
    """One line of what is said about a text, before it is written: where, and what.

    `line` and `depth`, of files that include each other, are 0 where there is none; `is_warning`
    says that the text counts all the same, `is_obsolete` that it is old syntax which does. Written
    out, for every tool loads it: a tuple with names takes a millisecond.
    """

    __slots__ = ("depth", "form", "is_obsolete", "is_warning", "line", "source", "text")

    def __init__(
        self,
        text: str,
        source: str = "",
        line: int = 0,
        depth: int = 0,
        form: str = Form.PLAIN,
        *,
        is_warning: bool = False,
        is_obsolete: bool = False,
    ) -> None:
        self.text = text
        self.source = source
        self.line = line
        self.depth = depth
        self.form = form
        self.is_warning = is_warning
        self.is_obsolete = is_obsolete


class LanguageError(KettleError):
    """Text that does not parse; `source` and `line` say where, line 0 means unknown.

    `complaint` is what is wrong, without the place that `message` has before or behind it;
    `nearest` is the word that is probably meant, empty if none is.
    """

    def __init__(
        self,
        message: str,
        *,
        source: str = "",
        line: int = 0,
        hint: str = "",
        complaint: str = "",
        nearest: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.source = source
        self.line = line
        self.complaint = complaint or message
        self.nearest = nearest


class ClassAdSyntaxError(LanguageError):
    """A ClassAd or expression that does not parse; `column` is where, from 0.

    `complaint` lacks the column alone: it is what stands below a caret (`classad.pointing`).
    """

    def __init__(
        self, message: str, *, text: str = "", column: int = 0, complaint: str = "", line: int = 0
    ) -> None:
        super().__init__(message, complaint=complaint, line=line)
        self.text = text
        self.column = column

    def in_file(self, path: str) -> ClassAdSyntaxError:
        """Return the error as one of a file."""
        found = ClassAdSyntaxError(
            f"{path}, {self.message}",
            text=self.text,
            column=self.column,
            complaint=f"{path}, {self.complaint}",
            line=self.line,
        )
        found.source = path
        return found


class ConfigError(LanguageError):
    """A configuration file, or the value of a knob, that is wrong.

    `remarks` are the lines of a complaint about a file, the place in an included file before that
    in the one which includes it; empty where there is but the message. `circle` are the names that
    refer to each other, the first one last again; empty for none.
    """

    remarks: tuple[Remark, ...] = ()
    circle: tuple[str, ...] = ()


class EndingConfigError(ConfigError):
    """A value without which it is not known what the configuration is; it ends every program.

    `EXIT_CODE` is what with.
    """

    EXIT_CODE = 4


class SubmitError(LanguageError):
    """A submit file that cannot be made into jobs.

    `message` is `said` behind a `mark`, as `condor_submit` writes it. `command` is the one at
    fault, under any of its names: None for that which the step that raises has looked at last.
    `choices` are the words that it takes, where it takes few.
    """

    def __init__(
        self,
        said: str,
        *,
        mark: str = "ERROR: ",
        complaint: str = "",
        source: str = "",
        line: int = 0,
        hint: str = "",
        command: str | None = None,
        choices: tuple[str, ...] = (),
    ) -> None:
        super().__init__(
            f"{mark}{said}", source=source, line=line, hint=hint, complaint=complaint or said
        )
        self.mark = mark
        self.said = said
        self.command = command
        self.choices = choices


class StatementError(SubmitError):
    """A line of a submit file, or its queue statement, that makes no sense.

    `complaint` says what is wrong, `remarks` more of it, with places. `told_line` is the line as
    the reference counts it, `line` as an editor does.
    """

    told_line: int = 0
    remarks: tuple[Remark, ...] = ()


class TransformError(LanguageError):
    """A rule that cannot be applied to an ad."""


class WaitInterrupted(KettleError):  # noqa: N818 - nothing went wrong
    """A wait for a peer that was ended here, by other news; the connection is as it was."""


class WireError(KettleError):
    """A connection that cannot go on."""


class LocalProtocolError(WireError):
    """This side used a protocol machine wrongly."""


class RemoteProtocolError(WireError):
    """The peer sent what the protocol does not allow; it costs the peer its connection."""


class ConnectionLost(WireError):  # noqa: N818 - the name says what happened
    """The peer is gone, never came, or did not answer in time."""


class Unreached(WireError):  # noqa: N818
    """Nothing could be said to `address`: there is no connection, or none that both sides want."""

    address: str = ""


class NotConnected(ConnectionLost, Unreached):
    """No connection could be made to `address`."""

    def __init__(self, message: str, *, address: str = "") -> None:
        super().__init__(message)
        self.address = address


class AuthenticationFailed(Unreached):
    """No authentication method satisfied both sides; `tried` are those that failed, in order."""

    def __init__(self, message: str, *, tried: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.tried = tried


class SessionUnknown(AuthenticationFailed):
    """The server does not know the session that was to be resumed; a new one can be made."""


class AuthorizationDenied(WireError):  # noqa: N818
    """The peer does not grant this identity the command.

    Where the peer said so: its word for it, for whom it takes us, by which method.
    """

    def __init__(self, message: str, *, code: str = "", user: str = "", method: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.user = user
        self.method = method


class StorageError(KettleError):
    """A file that cannot be read, written or trusted; `errno` is the kernel's word, 0 if none.

    `ends_daemon` says that the daemon ends for it, and that its log has it: nobody is to tell more.
    """

    def __init__(self, message: str, *, hint: str = "", errno: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.errno = errno
        self.ends_daemon = False


class ChangedError(StorageError):
    """A file that has to stay as it was when it was first read, and has changed or is gone."""


class NotMade(StorageError):  # noqa: N818 - the name says what happened
    """A new file that could not even be begun; of a file that was, nobody says so."""


class RefusedError(KettleError):
    """A daemon refused a request; `code` is the protocol's number for why, `reason` its words.

    Where it has no words of its own, `reason` is empty.
    """

    def __init__(self, message: str, *, code: int = 0, hint: str = "", reason: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.reason = reason


class NotCommitted(RefusedError):  # noqa: N818 - the name says what happened
    """A schedd refused all that a transaction had asked for."""


class NotForked(KettleError):  # noqa: N818 - the name says what happened
    """No process could be made: no fault of what was to run in it, and it has not begun."""


class NotFoundError(KettleError):
    """A job, a daemon or a file that is not there."""


class NotKnownNow(NotFoundError):  # noqa: N818 - the name says what happened
    """An account that cannot be found just now: whoever should know of it may only be silent."""


class UnknownHostError(NotFoundError):
    """A host whose name no machine has."""

    def __init__(self, host: str) -> None:
        super().__init__(f"unknown host {host}")
        self.host = host

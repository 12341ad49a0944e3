"""What the name service says of an account that `pwd` does not find: there is none, or nothing.

Python's `pwd` has one error for both. The C library's own functions have two, where the service
itself tells its library that it fails: sssd that does not run may pass for one that knows nobody.
"""

from __future__ import annotations

import ctypes
import errno
import grp
import os
import pwd

from kettle.octets import to_bytes

# How these functions say that there is none (getpwnam_r(3)); the first is the C library's own.
_NONE = frozenset((0, errno.ENOENT, errno.ESRCH, errno.EBADF, errno.EPERM))
# More than a struct passwd has.
_RECORD_BYTES = 256
_BUFFER_BYTES = 64 * 1024


def why_unsure(who: str | int) -> str:
    """Say why it is not sure that there is no account of a name, or a number; empty if it is."""
    library = ctypes.CDLL(None)
    name = isinstance(who, str)
    asked = ctypes.c_char_p(to_bytes(who)) if isinstance(who, str) else ctypes.c_uint32(who)
    ask = library.getpwnam_r if name else library.getpwuid_r
    record = ctypes.create_string_buffer(_RECORD_BYTES)
    buffer = ctypes.create_string_buffer(_BUFFER_BYTES)
    found = ctypes.c_void_p()
    size = ctypes.c_size_t(_BUFFER_BYTES)
    number: int = ask(asked, record, buffer, size, ctypes.byref(found))
    if found.value or number == errno.ERANGE:
        return "the name service has just found one"
    return "" if number in _NONE else f"the name service fails ({os.strerror(number)})"


def holder_of(number: int) -> str:
    """Return what has a number as its uid or its gid here; empty if nothing has."""
    try:
        return f"the account {pwd.getpwuid(number).pw_name!r}"
    except KeyError:
        pass
    try:
        return f"the group {grp.getgrgid(number).gr_name!r}"
    except KeyError:
        return ""

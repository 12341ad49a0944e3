"""Imported by the schedd's zygote: reads the configuration that hosts fall back on.

A host that is forked while somebody edits a file, and the file is no configuration just then, goes
on with this one; its user's jobs would wait for the file.
"""

from __future__ import annotations

import contextlib

from kettle.errors import KettleError
from kettle.runtime.remote_settings import load_for_child

# What is wrong already is the schedd's to say.
with contextlib.suppress(KettleError):
    load_for_child("SHADOW")

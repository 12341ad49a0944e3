"""File transfer as a machine: what travels, under which names, and the dialog that carries it.

The same two halves serve the starter, the shadow, the schedd's spool and the tools; who connects,
sends the transfer key and how bytes reach a disk is the caller's. Order on the wire, U the sending
side (`sending.py`), D the receiving one (`receiving.py`):

    U: final?, {SandboxSize}                         what comes
    U: command; name                                 for each item, and after the first name:
        U: alive;  D: {Result 2};  D: alive;  U: {Result 2}          the go-ahead (`go_ahead.py`)
    U: mode; size; body          (files)     U: mode (directories)     U: url (URLs)
    U: what became of it         (files that U itself takes to URLs, now that it may)
    U: 0;  U: ack;  D: ack                           (`outcome.py`)
"""

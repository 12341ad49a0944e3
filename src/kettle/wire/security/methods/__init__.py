"""Authentication methods, one file each: what the client says, what the server says and checks.

Every file has `client(context)` and `server(context)` dialogs. A method that fails in an orderly
way returns None, or raises MethodFailed with the reason; the handshake then goes on with the next.
"""

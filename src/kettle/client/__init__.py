"""What the tools share: locating, querying, queueing and acting, over blocking connections.

No asyncio here: a classic tool must start in tens of milliseconds.
"""

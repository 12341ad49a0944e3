"""Who gets which slot: functions of a snapshot, without clock, socket or file."""

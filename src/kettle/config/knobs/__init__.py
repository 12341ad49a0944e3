"""The knobs, one table for each subsystem; nothing here is loaded before somebody needs it."""

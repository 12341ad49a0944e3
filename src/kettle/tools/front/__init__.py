"""The subcommands of `kettle`, one module each."""

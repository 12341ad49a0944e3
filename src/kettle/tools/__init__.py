"""The command-line programs: one module each, with `main(argv, environment, streams)`."""

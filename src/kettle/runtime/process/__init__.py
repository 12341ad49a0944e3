"""Processes and what holds them: forks, accounts, control groups, namespaces."""

"""How daemons end, as masters and service managers read it: the reference's own numbers."""

EXIT_OK = 0
EXIT_FAILURE = 1
# What is configured cannot be, or there is no log to say more in.
EXIT_BAD_CONFIGURATION = 44
# It is not to be started again.
EXIT_NO_RESTART = 99

"""The only impure library: loop, clock, sockets, processes, files, privileges, logs."""

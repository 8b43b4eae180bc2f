"""Memory and time of a job on a cluster: plain array functions, no I/O, no clock, no language."""

"""The wire with real sockets, real peers and real time: few tests, and slower than the rest."""

"""Lines to bots: ZeroMQ's protocol over sockets of this machine and of the network."""

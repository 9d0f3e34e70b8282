"""Where matches are played: referee processes of this machine, or of a cluster."""

"""Who plays whom, from which deal, in which seats: the formats. Pure."""

"""Words: what bot and referee say to each other. Depends on msgspec only."""

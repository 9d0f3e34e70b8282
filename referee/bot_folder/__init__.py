"""A bot's folder, archive or repository: read with suspicion, checked and hashed."""

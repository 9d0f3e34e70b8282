"""What results come to: standings, ratings, sequential tests. Pure."""

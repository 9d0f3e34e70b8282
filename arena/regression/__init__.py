"""Is the new version of a bot better than the old one, and where do they part?"""

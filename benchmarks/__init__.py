"""Speed, always as ratios measured back to back in one process."""

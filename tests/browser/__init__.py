"""The page of `imwk report` in a real browser."""

"""A user's table as a matrix: read, check, encode; errors name the line or the cell."""

"""A user's file to a matrix: read, encoded, cleaned, and refused with the line named."""

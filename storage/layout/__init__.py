"""What a cube contains: variables, coordinates, grids of exponents, and the files of a new cube."""

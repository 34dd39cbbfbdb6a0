"""What a cube holds: variables, coordinates, grids of exponents, and its files without results."""

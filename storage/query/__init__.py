"""Questions to an open cube: select, average, find the best exponents, compare, export."""

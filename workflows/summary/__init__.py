"""The mean results of algorithms at their best exponents: in tables, and as points of curves."""

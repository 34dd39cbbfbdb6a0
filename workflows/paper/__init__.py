"""The paper's tables: published values, ours beside them, and how they are printed."""

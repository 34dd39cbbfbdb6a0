"""The paper tables: the published values, the cube's values beside them, and their formats."""

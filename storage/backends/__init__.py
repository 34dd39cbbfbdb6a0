"""Where a cube lies: a folder or an object store, and how files are written there."""

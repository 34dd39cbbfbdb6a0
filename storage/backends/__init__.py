"""Where a cube is stored: a folder or an object store, behind one protocol."""

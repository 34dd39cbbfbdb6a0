"""How a sweep is computed: its blocks, their cost, and running them serially or on Dask."""

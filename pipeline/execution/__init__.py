"""How a sweep is computed: blocks, what they cost, and how they run one by one or on Dask."""

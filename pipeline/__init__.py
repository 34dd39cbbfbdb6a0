"""What is computed: the numeric core, the data sets, and (later) the plan of a sweep."""

"""What is computed: the numeric core and the data sets."""

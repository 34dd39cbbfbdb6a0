"""How people drive it: the command line and what it calls."""

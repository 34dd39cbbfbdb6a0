"""The paper's 18 real data sets: described in a catalogue, imported or fetched into a cache."""

"""The paper's 18 real data sets: a catalogue, a cache of raw files, and downloads into it."""

"""Where results live: empty until sweeps write their cube."""

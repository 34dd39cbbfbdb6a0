"""Damaged cubes, full disks and killed processes."""

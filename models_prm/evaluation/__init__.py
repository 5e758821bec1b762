"""Measuring models and pools: exact best-of-N, votes, calibration, first errors; reports and their plots."""

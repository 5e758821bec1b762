"""Serving a step scorer over HTTP: requests that arrive together share a forward pass."""

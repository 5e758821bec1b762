"""The demo: a seeded practice project, and a small supervisor for web server and worker."""

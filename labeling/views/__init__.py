from labeling.views.errors import csrf_refused, not_found, server_error

__all__ = ["csrf_refused", "not_found", "server_error"]

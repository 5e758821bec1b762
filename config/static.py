"""Static files under hashed names, with the imports between JavaScript modules rewritten too."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedModules(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    support_js_module_import_aggregation = True
    # A page must not fail because one picture is missing from the manifest.
    manifest_strict = False

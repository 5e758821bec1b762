"""Inserts many rows of plain values at once, past the cost of one model object for each.

Only for tables whose rows nobody needs back; `Model.objects.bulk_create` is for the others.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import JSONField, Model
from django.utils import timezone


def insert_rows(model: type[Model], rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows of one shape: {field name: value}; a foreign key is given as its `_id`.

    `created_at` is now. Values are not checked: the caller has done so. Raises IntegrityError.
    """
    if not rows:
        return
    fields = {field.attname: field for field in model._meta.concrete_fields}
    names = [*rows[0], "created_at"]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(fields[name].column) for name in names)
    marks = ", ".join(["%s"] * len(names))
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    encoded = [name for name in rows[0] if isinstance(fields[name], JSONField)]
    sql = f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({marks})"  # noqa: S608 - our own names
    with connection.cursor() as cursor:
        cursor.executemany(
            sql,
            [(*(row | {name: json.dumps(row[name]) for name in encoded}).values(), now) for row in rows],
        )

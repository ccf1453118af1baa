"""The statement that walks a graph of vectors, which a function of the database writes for its numbers."""

from __future__ import annotations

import re

from engram.database import Connection


def walk(conn: Connection, *, dimensions: int, scope_id: int, model_id: int, most: int) -> str:
    """What `near_vectors` sends for a scope that has its graph, to be explained with `vector` and `tenant_id`."""
    source = str(conn.exec_driver_sql("SELECT prosrc FROM pg_proc WHERE proname = 'near_vectors'").scalar())
    written = re.search(
        r"execute format\((.*?), vector_dims\(p_vector\), v_scope, p_model_id, p_most\)", source, re.DOTALL
    )
    assert written is not None
    text = "".join(re.findall(r"'([^']*)'", written[1]))
    for place, number in enumerate((dimensions, scope_id, model_id, most), 1):
        text = text.replace(f"%{place}$s", str(number))
    return text.replace("$1", "%(vector)s::halfvec").replace("$2", "%(tenant_id)s")

"""Requests drawn from the OpenAPI description, right and wrong: every answer is one that the description has, and none is a 5xx."""

import json
import os

import pytest

schemathesis = pytest.importorskip("schemathesis")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = (not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance)

EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "15"))  # for every path


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else json.dumps(value).encode()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_requests_as_described(server, mode):
    description = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    operations = [found.ok() for found in description.get_all_operations()]
    assert len(operations) == 15
    for operation in operations:
        if mode == GenerationMode.NEGATIVE and not operation.body:
            continue  # nothing can be wrong

        @given(operation.as_strategy(generation_mode=mode))
        @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
        def answered_as_described(case):
            case.call_and_validate(checks=CHECKS)

        answered_as_described()

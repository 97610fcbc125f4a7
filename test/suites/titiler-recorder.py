"""pytest plugin: writes each request that TiTiler's tests make to their applications, with its answer, as lines of JSON."""

import base64
import json
import os

from starlette.testclient import TestClient

original = TestClient.send


def send(self, request, **options):
    response = original(self, request, **options)
    with open(os.environ["TITILER_RECORD"], "a", encoding="utf-8") as record:
        line = {
            "test": os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0].split("::")[-1],
            "method": request.method,
            "url": str(request.url),
            "accept": request.headers.get("accept", "*/*"),
            "body": request.content.decode("utf-8", "replace"),
            "status": response.status_code,
            "type": response.headers.get("content-type", ""),
            "answer": base64.b64encode(response.content).decode("ascii"),
        }
        record.write(json.dumps(line) + "\n")
    return response


TestClient.send = send

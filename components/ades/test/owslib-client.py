"""Asks a processing service as owslib does: python3 owslib-client.py <landing page>; answers in JSON."""
import json
import sys

from owslib.ogcapi.processes import Processes

service = Processes(sys.argv[1])
print(
    json.dumps(
        {
            "conformsTo": service.conformance()["conformsTo"],
            "openapi": service.api()["openapi"],
            "processes": [process["id"] for process in service.processes()["processes"]],
            "inputs": sorted(service.process("echo")["inputs"]),
        }
    )
)

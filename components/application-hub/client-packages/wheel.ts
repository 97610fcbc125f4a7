import { writeZip } from "@swath/archive";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { ClientPackage } from "./client-package.ts";

const SOURCE = join(import.meta.dirname, "../clients/python/swath.py");
const PYTHON = ">=3.9";

/** The Python client as a wheel (PEP 427), the same bytes each time; typed (PEP 561). */
export async function buildWheel(version: string): Promise<ClientPackage & { readonly requires: string }> {
  const info = `swath_client-${version}.dist-info`;
  const files = new Map([
    ["swath/__init__.py", readFileSync(SOURCE)],
    ["swath/py.typed", Buffer.alloc(0)],
    [`${info}/METADATA`, Buffer.from(describe(version))],
    [`${info}/WHEEL`, Buffer.from("Wheel-Version: 1.0\nGenerator: swath\nRoot-Is-Purelib: true\nTag: py3-none-any\n")],
  ]);
  const record = `${info}/RECORD`;
  const lines = [...files].map(
    ([name, bytes]) => `${name},sha256=${hash("sha256", bytes, "base64url")},${bytes.length}\n`,
  );
  files.set(record, Buffer.from(`${lines.join("")}${record},,\n`));
  const parts: Uint8Array[] = [];
  for await (const part of writeZip(Array.from(files, ([name, content]) => ({ name, content })))) {
    parts.push(part);
  }
  return { name: `swath_client-${version}-py3-none-any.whl`, bytes: Buffer.concat(parts), requires: PYTHON };
}

const describe = (version: string): string =>
  `Metadata-Version: 2.1
Name: swath-client
Version: ${version}
Summary: Search, look, process and store on a Swath platform
License: Apache-2.0
Requires-Python: ${PYTHON}
Description-Content-Type: text/plain

See the module's own help: python -c "import swath; help(swath)"
`;

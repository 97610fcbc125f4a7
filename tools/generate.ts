// Writes every generated file; `--check` only compares and fails when one is stale.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { SERVICE_NAMES, renderDocument } from "./reference/openapi.ts";

const root = join(import.meta.dirname, "..");
/** Path below the repository to the function that renders it. */
const generators: Record<string, () => string | Promise<string>> = {
  "docs/reference/commands.md": async () => (await import("../cli/commands/reference-page.ts")).renderCommandsPage(),
  "docs/reference/errors.md": async () => (await import("./reference/errors-page.ts")).renderErrorsPage(),
  "docs/reference/http.md": async () => (await import("./reference/http-page.ts")).renderHttpPage(),
  ...Object.fromEntries(
    SERVICE_NAMES.map((name) => [`docs/reference/openapi/${name}.json`, () => renderDocument(name)] as const),
  ),
  "docs/reference/variables.md": async () => (await import("../cli/config/reference-page.ts")).renderVariablesPage(),
};

const CLIENT = "components/application-hub/clients/javascript";
for (const name of ["swath", "login", "storage-request", "reach"]) {
  generators[`${CLIENT}/${name}.d.ts`] = async () =>
    (await import("./declare-client.ts")).renderDeclaration(join(root, CLIENT), name);
}

const check = process.argv.includes("--check");
let stale = 0;
for (const [path, render] of Object.entries(generators)) {
  const file = join(root, path);
  const text = await render();
  if (check) {
    if (text !== read(file)) {
      stale += 1;
      console.error(`${path} is stale; run: npm run generate`);
    }
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(path);
  }
}
process.exit(stale > 0 ? 1 : 0);

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

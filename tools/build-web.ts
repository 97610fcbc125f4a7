// `npm run build:web [-- component …]`: builds the web pages whose sources changed; `swath deploy apply` does the same by itself.
import { buildWebPages } from "../cli/web-pages.ts";
import { listWebs } from "../libs/ui/build/web-sources.ts";

const root = `${import.meta.dirname}/..`;
const requested = process.argv.slice(2);
const known = listWebs(root);
const strange = requested.filter((name) => !known.includes(name));
if (strange.length > 0) {
  console.error(`no web pages: ${strange.join(", ")}; components with web pages: ${known.join(", ")}`);
  process.exit(2);
}
try {
  const built = await buildWebPages({ stdout: process.stdout, ...(requested.length > 0 && { components: requested }) });
  if (built === 0) {
    console.log("The web pages are as new as their sources.");
  }
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

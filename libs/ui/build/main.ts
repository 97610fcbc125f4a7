// Builds the app of one component: main.ts <root of the repository> <component>. Its own process, so that the bundler's memory
// is free again before anything is deployed. `cli/web-pages.ts` decides when.
import { buildWeb } from "./build-web.ts";

const [root = "", component = ""] = process.argv.slice(2);
try {
  await buildWeb(root, component);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

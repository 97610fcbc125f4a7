// The command `swath` inside the container image. It imports nothing that it does not use: every pod starts here.
//
//   swath serve COMPONENT [ENTRY]   becomes a service: components/COMPONENT/ENTRY.ts, main when left out
//   swath probe postgres            ends with 0 when the PostgreSQL of this pod takes queries
//   swath backup COMPONENT ENTRY    writes a volume as a tar stream; its settings are a line of JSON on standard input
//   swath unpack FOLDER             makes the volume of such a stream again
//   swath idle                      does nothing until it is asked to stop: a pod in which others are run
//   swath warm                      fills the compile cache, while the image is built
import { existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const [command, ...args] = process.argv.slice(2);

switch (command) {
  case "serve":
    await serve(args[0] ?? "", args[1] ?? "main");
    break;
  case "probe":
    await probe(args[0]);
    break;
  case "backup": {
    const { readSettings } = await import("./read-settings.ts");
    await readSettings();
    await serve(args[0] ?? "", args[1] ?? "");
    break;
  }
  case "unpack": {
    const { unpackInput } = await import("./unpack.ts");
    await unpackInput(args[0] ?? "").catch((error: unknown) => fail((error as Error).message));
    // The input may stay open for ever.
    process.stdin.destroy();
    break;
  }
  case "idle":
    process.once("SIGTERM", () => process.exit(0));
    setInterval(() => {}, 2 ** 30);
    break;
  case "warm": {
    const { warmCompileCache } = await import("./warm.ts");
    await warmCompileCache(root);
    break;
  }
  default:
    fail(`what should run? Usage: swath serve COMPONENT [ENTRY] | swath probe postgres`);
}

async function serve(component: string, entry: string): Promise<void> {
  const program = join(root, "components", component, `${entry}.ts`);
  const isName = /^[a-z0-9-]+$/.test(component) && /^[a-z0-9-]+(\/[a-z0-9-]+)*$/.test(entry);
  if (!isName || !existsSync(program)) {
    fail(`this image has no program ${entry} of a component ${component}`);
  }
  await import(program);
}

async function probe(what: string | undefined): Promise<void> {
  if (what !== "postgres") {
    fail(`there is no probe "${what ?? ""}"; allowed: postgres`);
  }
  const { probePostgres } = await import("@swath/postgres/probe");
  const port = Number(/:(\d+)$/.exec(process.env["LISTEN_POSTGRES"] ?? "")?.[1] ?? 5432);
  try {
    await probePostgres({ host: "127.0.0.1", port });
  } catch (error) {
    fail((error as Error).message);
  }
}

function fail(message: string): never {
  console.error(`swath: ${message}`);
  process.exit(1);
}

import { readFile } from "node:fs/promises";
import { webAssembly } from "./web-assembly.ts";
import type { WebAssemblyModule } from "./web-assembly.ts";

/** The JavaScript engine as code that any thread of the process can run. */
export async function compileMachine(): Promise<WebAssemblyModule> {
  const file = import.meta.resolve("@jitl/quickjs-wasmfile-release-sync/wasm");
  return await webAssembly.compile(await readFile(new URL(file)));
}

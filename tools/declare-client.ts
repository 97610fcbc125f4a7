import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const OPTIONS = ["--ignoreConfig", "--allowJs", "--checkJs", "--strict", "--declaration", "--emitDeclarationOnly"];
const PLATFORM = ["--target", "es2024", "--module", "nodenext", "--lib", "es2024,dom", "--types", "node"];

/** The types of one file of the JavaScript client, for who writes TypeScript; made of its comments, which are checked with it. */
export function renderDeclaration(folder: string, name: string): string {
  const out = mkdtempSync(join(tmpdir(), "swath-declare-"));
  try {
    const places = ["--typeRoots", join(root, "node_modules/@types"), "--outDir", out];
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    execFileSync(process.execPath, [tsc, ...OPTIONS, ...PLATFORM, ...places, join(folder, `${name}.js`)], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    return readFileSync(join(out, `${name}.d.ts`), "utf8");
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

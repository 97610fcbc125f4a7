// The tools of the example packages, one program: `swath-examples <tool> --option value …`.
import { ToolError } from "./errors.ts";

/** Works in the current directory and says what it did. */
type Tool = (options: Readonly<Record<string, string>>, scenes: readonly string[]) => Promise<string>;

/** Loaded when needed: a tool does not wait for the libraries of another. */
const tools: Readonly<Record<string, () => Promise<Tool>>> = {
  ndvi: async () => (await import("./ndvi.ts")).ndvi,
  "water-bodies": async () => (await import("./water-bodies.ts")).waterBodies,
  "s-expression": async () => (await import("./s-expression.ts")).sExpression,
  crop: async () => (await import("./crop.ts")).crop,
  mosaic: async () => (await import("./mosaic.ts")).mosaic,
  collect: async () => (await import("./collect.ts")).collect,
};

try {
  const [name = "", ...args] = process.argv.slice(2);
  const load = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (load === undefined) {
    throw new ToolError(`unknown tool "${name}"; tools: ${Object.keys(tools).join(", ")}`);
  }
  const { options, scenes } = parse(args);
  const work = await load();
  // On standard error: the log of a job; standard output belongs to packages.
  console.error(await work(options, scenes));
} catch (error) {
  console.error(error instanceof ToolError ? `error: ${error.message}` : error);
  process.exit(1);
}

/** `--scene` may come often; the other options are the tools' own. */
function parse(args: readonly string[]): { options: Record<string, string>; scenes: string[] } {
  const options: Record<string, string> = {};
  const scenes: string[] = [];
  for (let index = 0; index < args.length; index += 2) {
    const [option = "", value] = [args[index], args[index + 1]];
    if (!option.startsWith("--") || value === undefined) {
      throw new ToolError(`"${option}" is no option with a value`);
    }
    options[option.slice(2)] = value;
    if (option === "--scene") {
      scenes.push(value);
    }
  }
  return { options, scenes };
}

import { join } from "node:path";
import { CwlError } from "../errors.ts";
import type { Fetcher } from "../load/fetcher.ts";
import type { CommandIo } from "./command.ts";
import { cwlCommands } from "./index.ts";
import { printable } from "./printable.ts";

/** Everything below `cwl`: picks the command, runs it until done or interrupted, and gives the exit status. */
export async function runCwl(args: readonly string[]): Promise<number> {
  const [name = "", ...rest] = args;
  const entry = Object.hasOwn(cwlCommands, name) ? cwlCommands[name] : undefined;
  if (entry === undefined) {
    const lines = Object.entries(cwlCommands).map(([command, { summary }]) => `  ${command.padEnd(10)}${summary}`);
    process.stderr.write(`usage: cwl COMMAND …\n${lines.join("\n")}\n`);
    return name === "" || name === "--help" || name === "-h" ? 0 : 2;
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => stop.abort());
  }
  // oxlint-disable-next-line node/no-process-env -- the command line of a process is where its environment is read
  const { env } = process;
  const io: CommandIo = {
    print: (text) => process.stdout.write(`${text}\n`),
    error: (text) => process.stderr.write(`${text}\n`),
    progress: {
      write: (text) => process.stderr.write(text),
      // A terminal that does not know its width says 0.
      get columns() {
        return process.stderr.isTTY ? process.stderr.columns || 80 : undefined;
      },
      get rows() {
        return process.stderr.rows || 24;
      },
    },
    env,
    signal: stop.signal,
    fetcher: lazyFetcher(env),
  };
  try {
    const command = await entry.load();
    if (rest[0] === "--help" || rest[0] === "-h") {
      io.print(command.help?.() ?? `usage: ${command.usage}`);
      return 0;
    }
    return await command.run(rest, io);
  } catch (error) {
    if (error instanceof CwlError) {
      // It may have words of a tool in it.
      io.error(
        printable(`${error.step === undefined || error.step === "" ? "" : `step ${error.step}: `}${error.message}`),
      );
      return error.code === "unsupported" ? 33 : error.code === "cancelled" ? 130 : 1;
    }
    if ((error as NodeJS.ErrnoException).code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
      const [option = ""] = /(?<=')-[^']*/.exec((error as Error).message) ?? [];
      io.error(`unknown option ${option} (${name} --help lists every option)`);
      return 2;
    }
    if ((error as NodeJS.ErrnoException).code?.startsWith("ERR_PARSE_ARGS") === true) {
      io.error((error as Error).message);
      return 2;
    }
    throw error;
  }
}

/** Loads its code with the first address that is not of this machine. */
function lazyFetcher(env: CommandIo["env"]): Fetcher {
  let fetcher: Promise<Fetcher> | undefined;
  const load = (): Promise<Fetcher> => {
    const home = env["XDG_CACHE_HOME"] ?? (env["HOME"] === undefined ? undefined : join(env["HOME"], ".cache"));
    fetcher ??= import("../remote/http-fetcher.ts").then(({ createHttpFetcher }) =>
      createHttpFetcher(home === undefined ? {} : { cacheDir: join(home, "swath-cwl") }),
    );
    return fetcher;
  };
  return {
    readText: async (uri, options) => await (await load()).readText(uri, options),
    download: async (uri, path, options) => await (await load()).download(uri, path, options),
  };
}

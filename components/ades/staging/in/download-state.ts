import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What is kept of a download beside its bytes, so that a later process continues it. */
export interface DownloadState {
  readonly partPath: string;
  /** ETag or date that the bytes in `partPath` belong to. */
  readonly readValidator: () => Promise<string | undefined>;
  readonly writeValidator: (validator: string | undefined) => Promise<void>;
  /** Size of a file that was completed; unknown of those too small to be worth it. */
  readonly readDone: () => Promise<number | undefined>;
  readonly writeDone: (size: number | undefined) => Promise<void>;
}

interface State {
  readonly validator?: string;
  readonly done?: number;
}

/**
 * @param key what the file is, the same in every attempt: its path in the target and its address without the query
 * @param isFirst whether nothing was left by an earlier attempt, so that nothing needs to be looked for
 */
export function openDownloadState(folder: string, key: string, isFirst: boolean): DownloadState {
  const name = join(folder, createHash("sha256").update(key).digest("hex").slice(0, 32));
  let state: State | undefined = isFirst ? {} : undefined;
  const read = async (): Promise<State> => {
    state ??= await load(`${name}.json`);
    return state;
  };
  const write = async (next: State): Promise<void> => {
    const before = await read();
    if (before.validator !== next.validator || before.done !== next.done) {
      await writeFile(`${name}.json`, JSON.stringify(next));
    }
    state = next;
  };
  return {
    partPath: `${name}.part`,
    readValidator: async () => (await read()).validator,
    writeValidator: (validator) => write(validator === undefined ? {} : { validator }),
    readDone: async () => (await read()).done,
    writeDone: (done) => write(done === undefined ? {} : { done }),
  };
}

async function load(path: string): Promise<State> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as State;
  } catch {
    // None yet, or a crash cut it short: the download starts anew.
    return {};
  }
}

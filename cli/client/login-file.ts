import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { CommandError } from "../commands/command.ts";

/** A platform that somebody has logged in to from this machine. */
export interface SavedLogin {
  /** `https://eo.example.org`: scheme, domain and port that all hosts of the platform share. */
  readonly platform: string;
  /** Name of the cluster on this machine that it is; left out for a platform elsewhere. */
  readonly cluster?: string;
  readonly issuer: string;
  /** The identity service's client that logged in; left out for the commands' own. */
  readonly client?: string;
  readonly user: string;
  readonly refreshToken: string;
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly accessTokenEnds: number;
}

interface LoginFile {
  /** The platform that commands mean when none is named. */
  readonly current?: string | undefined;
  readonly logins: readonly SavedLogin[];
}

/** Folder of what the commands remember for this person (XDG Base Directory Specification). */
const findFile = (env: NodeJS.ProcessEnv): string =>
  join(env["XDG_CONFIG_HOME"] ?? join(env["HOME"] ?? homedir(), ".config"), "swath", "logins.json");

/** The login at a platform, else the newest one; undefined where nobody has logged in. */
export async function readLogin(env: NodeJS.ProcessEnv, platform?: string): Promise<SavedLogin | undefined> {
  const { current, logins } = await readLoginFile(env);
  const desired = platform ?? current;
  return logins.find((login) => login.platform === desired);
}

export async function saveLogin(env: NodeJS.ProcessEnv, login: SavedLogin): Promise<void> {
  const { logins } = await readLoginFile(env);
  const others = logins.filter(({ platform }) => platform !== login.platform);
  await writeLoginFile(env, { current: login.platform, logins: [...others, login] });
}

export async function removeLogin(env: NodeJS.ProcessEnv, platform: string): Promise<void> {
  const { logins } = await readLoginFile(env);
  const others = logins.filter((login) => login.platform !== platform);
  await writeLoginFile(env, { current: others.at(-1)?.platform, logins: others });
}

async function readLoginFile(env: NodeJS.ProcessEnv): Promise<LoginFile> {
  const path = findFile(env);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return { logins: [] };
    }
    throw new CommandError(`${path} cannot be read (${(error as Error).message})`);
  }
  try {
    const file = JSON.parse(text) as LoginFile;
    if (Array.isArray(file.logins)) {
      return file;
    }
  } catch {
    // Told below.
  }
  throw new CommandError(`${path} is damaged; remove it and log in again: swath login`);
}

/** Tokens are for their owner's eyes, and a command that is killed leaves the old file. */
async function writeLoginFile(env: NodeJS.ProcessEnv, file: LoginFile): Promise<void> {
  const path = findFile(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  await writeFile(next, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  await chmod(next, 0o600);
  await rename(next, path);
}

import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { CommandError } from "../../commands/command.ts";
import { repositoryRoot } from "../../targets/embedded/launch/code-version.ts";

/** A client of the login service and its secret. */
export interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

/** Where the protection script keeps the client that it registered; SWATH_CLIENT_FILE names another file. */
export function clientFile(env: NodeJS.ProcessEnv): string {
  return env["SWATH_CLIENT_FILE"] ?? join(repositoryRoot, "deploy/swath/client.yaml");
}

/** The two lines that register-client prints. */
export function formatClient({ id, secret }: ClientCredentials): string {
  return `client-id: ${id}\nclient-secret: ${secret}\n`;
}

/** @throws {CommandError} when the file is there and holds something else */
export function readClientFile(file: string): ClientCredentials | undefined {
  if (!existsSync(file)) {
    return undefined;
  }
  const text = readFileSync(file, "utf8");
  const valueOf = (name: string) => new RegExp(`^${name}: *["']?([^"'\\s]+)["']? *$`, "m").exec(text)?.[1];
  const [id, secret] = [valueOf("client-id"), valueOf("client-secret")];
  if (id === undefined || secret === undefined) {
    throw new CommandError(
      `${file} does not hold the lines client-id and client-secret; remove it and run swath-protection.sh apply again`,
    );
  }
  return { id, secret };
}

/** Replaces the file at once, readable for its owner alone. */
export function writeClientFile(file: string, client: ClientCredentials): void {
  const made = `${file}.${process.pid}`;
  writeFileSync(made, formatClient(client), { mode: 0o600, flush: true });
  chmodSync(made, 0o600);
  renameSync(made, file);
}

export function removeClientFile(file: string): boolean {
  const exists = existsSync(file);
  rmSync(file, { force: true });
  return exists;
}

import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { CommandError } from "../commands/command.ts";

type Body = Readonly<Record<string, unknown>>;

/** A realm of a Keycloak, as `kc.sh export` writes it. */
export interface KeycloakExport {
  /** A RealmRepresentation without its users. */
  readonly realm: Body & { readonly realm: string };
  readonly users: readonly Body[];
}

/**
 * Reads an export: one file with a realm or several (`kc.sh export --file`), or a folder with a file for the realm and others for its users
 * (`--dir`).
 * @param name which realm; only needed where there are several besides `master`
 * @throws {CommandError} naming what is wrong, and the realms that there are
 */
export function readKeycloakExport(path: string, name: string | undefined): KeycloakExport {
  const documents = listFiles(path).flatMap((file) => [readJson(file)].flat() as Body[]);
  const realms = documents.filter(isRealm);
  const names = realms.map((found) => found.realm);
  const wanted = name ?? chooseRealm(names, path);
  const realm = realms.find((found) => found.realm === wanted);
  if (realm === undefined) {
    throw new CommandError(
      `there is no realm ${wanted} in ${path}; there ${names.length === 1 ? "is" : "are"}: ${names.join(", ")}`,
    );
  }
  const { users: _, ...rest } = realm;
  const inOtherFiles = documents.filter((document) => !isRealm(document) && document["realm"] === wanted);
  return {
    realm: rest as KeycloakExport["realm"],
    users: [realm, ...inOtherFiles].flatMap((document) => usersOf(document)),
  };
}

/** A file of users has `realm` and `users` alone. */
const isRealm = (document: Body): document is Body & { readonly realm: string } =>
  typeof document["realm"] === "string" && Object.keys(document).some((key) => key !== "realm" && key !== "users");

const usersOf = ({ users }: Body): readonly Body[] => (Array.isArray(users) ? (users as Body[]) : []);

function chooseRealm(names: readonly string[], path: string): string {
  const [only, ...others] = names.filter((name) => name !== "master");
  if (only === undefined && names.length === 1) {
    return "master";
  }
  if (only === undefined) {
    throw new CommandError(
      `there is no realm in ${path}; make an export with: bin/kc.sh export --realm NAME --file realm.json`,
    );
  }
  if (others.length > 0) {
    throw new CommandError(`there are several realms in ${path}: ${names.join(", ")}; choose one with --from NAME`, 2);
  }
  return only;
}

function listFiles(path: string): readonly string[] {
  try {
    return statSync(path).isDirectory()
      ? readdirSync(path)
          .filter((name) => name.endsWith(".json"))
          .toSorted()
          .map((name) => join(path, name))
      : [path];
  } catch (error) {
    throw new CommandError(`cannot read ${path}: ${(error as Error).message}`);
  }
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as unknown;
  } catch (error) {
    throw new CommandError(`${file} is no JSON document: ${(error as Error).message}`);
  }
}

import { createHmac, randomBytes } from "node:crypto";

import type { KubernetesObject } from "@swath/kubernetes";
import type { PlatformSecret } from "@swath/manifest";

import type { Connection } from "../api/connection.ts";
import { applyObject, readObject } from "../api/objects.ts";
import { keys, type Labels } from "../render/labels.ts";
import type { GeneratedPart } from "../render/secrets.ts";
import { GENERATED_SECRET, RECORD_NAMESPACE } from "./names.ts";

/** Secrets that the deployment made for itself. They outlive `delete`, since volumes hold what they open. */
export interface GeneratedSecrets {
  /** The value of a name, made at the first call. */
  readonly get: (name: string, bytes: number) => string;
  /** Keeps what was made since. Before anybody uses it: a secret that was given out is never lost. */
  readonly save: () => Promise<void>;
}

const identity = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: GENERATED_SECRET, namespace: RECORD_NAMESPACE },
} as const;
const SEAL = "swath-seal";

export async function openGeneratedSecrets(connection: Connection, labels: Labels): Promise<GeneratedSecrets> {
  const known = await readGeneratedSecrets(connection);
  let changed = false;
  return {
    get: (name, bytes) => {
      const kept = known.get(name);
      if (kept !== undefined) {
        return kept;
      }
      const made = randomBytes(bytes).toString("base64url");
      known.set(name, made);
      changed = true;
      return made;
    },
    save: async () => {
      if (changed) {
        await writeGeneratedSecrets(connection, known, labels);
        changed = false;
      }
    },
  };
}

/** Keeps these secrets as those that the deployment made for itself. */
export async function writeGeneratedSecrets(
  connection: Connection,
  secrets: ReadonlyMap<string, string>,
  labels: Labels,
): Promise<void> {
  const data = Object.fromEntries([...secrets].map(([name, value]) => [name, encode(value)]));
  const metadata = { ...identity.metadata, labels };
  await applyObject(connection, { ...identity, metadata, type: "Opaque", data });
}

/** The value of a secret setting of a deployment. */
export async function readSecret(connection: Connection, secret: PlatformSecret): Promise<string> {
  if (secret.kind === "given") {
    return secret.value;
  }
  const value = (await readGeneratedSecrets(connection)).get(secret.name);
  if (value === undefined) {
    throw new Error(`the cluster has no secret ${secret.name} yet; deploy first`);
  }
  return value;
}

/** What makes hashes of secrets useless for guessing them: a keyed one with a key of the deployment's own. */
export function createSeal(secrets: GeneratedSecrets): (hash: string) => string {
  const key = secrets.get(SEAL, 32);
  return (hash) => createHmac("sha256", key).update(hash).digest("hex").slice(0, 16);
}

/** Puts the values that are made once into a rendered Secret, as its annotation says. */
export function fillSecret(object: KubernetesObject, secrets: GeneratedSecrets): KubernetesObject {
  const description = object.metadata.annotations?.[keys.generate];
  if (object.kind !== "Secret" || description === undefined) {
    return object;
  }
  const generate = JSON.parse(description) as Readonly<Record<string, readonly GeneratedPart[]>>;
  const given = (object["data"] ?? {}) as Readonly<Record<string, string>>;
  const made = Object.entries(generate).map(([entry, parts]) => [
    entry,
    encode(parts.map((part) => resolvePart(part, given, secrets)).join("")),
  ]);
  return { ...object, data: { ...given, ...Object.fromEntries(made) } };
}

function resolvePart(part: GeneratedPart, given: Readonly<Record<string, string>>, secrets: GeneratedSecrets): string {
  if ("text" in part) {
    return part.text;
  }
  return "data" in part
    ? Buffer.from(given[part.data] ?? "", "base64").toString("utf8")
    : secrets.get(part.name, part.bytes);
}

/** Every secret that the deployment made for itself, by its name. */
export async function readGeneratedSecrets(connection: Connection): Promise<Map<string, string>> {
  const secret = await readObject(connection, identity);
  const data = (secret?.["data"] ?? {}) as Record<string, string>;
  return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}

const encode = (text: string): string => Buffer.from(text, "utf8").toString("base64");

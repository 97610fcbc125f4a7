import { randomBytes } from "node:crypto";

import type { KubernetesObject } from "@swath/kubernetes";
import type { PlatformSecret } from "@swath/manifest";

import type { Connection } from "../api/connection.ts";
import { applyObject, readObject } from "../api/objects.ts";
import { commonLabels, keys, type Labels } from "../render/labels.ts";
import type { GeneratedPart } from "../render/secrets.ts";
import { GENERATED_SECRET, RECORD_NAMESPACE } from "./names.ts";

/** Secrets that the deployment made for itself. They outlive `delete`, since volumes hold what they open. */
export interface GeneratedSecrets {
  /** The value of a name, made at the first call; of no bytes is what may be there or not, and is never made. */
  readonly get: (name: string, bytes: number) => string;
  /** Keeps what was made since. Before anybody uses it: a secret that was given out is never lost. */
  readonly save: () => Promise<void>;
}

const identity = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: GENERATED_SECRET, namespace: RECORD_NAMESPACE },
} as const;

export async function openGeneratedSecrets(connection: Connection, labels: Labels): Promise<GeneratedSecrets> {
  const known = await readGeneratedSecrets(connection);
  const before = known.size;
  return {
    get: getOrMake(known),
    save: async () => {
      if (known.size > before) {
        await writeGeneratedSecrets(connection, known, labels);
      }
    },
  };
}

/** Secrets that nobody has yet, each made at its first use and kept in the map. */
function getOrMake(known: Map<string, string>): GeneratedSecrets["get"] {
  return (name, bytes) => {
    const kept = known.get(name);
    if (kept !== undefined) {
      return kept;
    }
    if (bytes === 0) {
      return "";
    }
    const made = randomBytes(bytes).toString("base64url");
    known.set(name, made);
    return made;
  };
}

/** Rendered Secrets with new values, and the Secret by which a later apply knows these. */
export function makeSecrets(rendered: readonly KubernetesObject[], labels: Labels): readonly KubernetesObject[] {
  const made = new Map<string, string>();
  const get = getOrMake(made);
  return [...rendered.map((object) => fillSecret(object, { get })), toRecord(made, labels)];
}

/** Keeps these secrets as those that the deployment made for itself. */
export async function writeGeneratedSecrets(
  connection: Connection,
  secrets: ReadonlyMap<string, string>,
  labels: Labels,
): Promise<void> {
  await applyObject(connection, toRecord(secrets, labels));
}

function toRecord(secrets: ReadonlyMap<string, string>, labels: Labels): KubernetesObject {
  const data = Object.fromEntries([...secrets].map(([name, value]) => [name, encode(value)]));
  return { ...identity, metadata: { ...identity.metadata, labels }, type: "Opaque", data };
}

/** Changes them all at once. */
export async function changeGeneratedSecrets(
  connection: Connection,
  clusterName: string,
  change: (secrets: Map<string, string>) => void,
): Promise<void> {
  const secrets = await readGeneratedSecrets(connection);
  change(secrets);
  await writeGeneratedSecrets(connection, secrets, commonLabels({ clusterName }));
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

/** Puts the values that are made once into a rendered Secret, as its annotation says. */
export function fillSecret(object: KubernetesObject, secrets: Pick<GeneratedSecrets, "get">): KubernetesObject {
  const description = object.metadata.annotations?.[keys.generate];
  if (object.kind !== "Secret" || description === undefined) {
    return object;
  }
  const generate = JSON.parse(description) as Readonly<Record<string, readonly GeneratedPart[]>>;
  const provided = (object["data"] ?? {}) as Readonly<Record<string, string>>;
  // The API server keeps no empty value, and would take one that is applied again for a change.
  const made = Object.entries(generate).flatMap(([entry, parts]) => {
    const value = parts.map((part) => resolvePart(part, provided, secrets)).join("");
    return value === "" ? [] : [[entry, encode(value)]];
  });
  return { ...object, data: { ...provided, ...Object.fromEntries(made) } };
}

function resolvePart(
  part: GeneratedPart,
  provided: Readonly<Record<string, string>>,
  secrets: Pick<GeneratedSecrets, "get">,
): string {
  if ("text" in part) {
    return part.text;
  }
  return "data" in part
    ? Buffer.from(provided[part.data] ?? "", "base64").toString("utf8")
    : secrets.get(part.name, part.bytes);
}

/** Every secret that the deployment made for itself, by its name. */
export async function readGeneratedSecrets(connection: Connection): Promise<Map<string, string>> {
  const secret = await readObject(connection, identity);
  const data = (secret?.["data"] ?? {}) as Record<string, string>;
  return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}

const encode = (text: string): string => Buffer.from(text, "utf8").toString("base64");

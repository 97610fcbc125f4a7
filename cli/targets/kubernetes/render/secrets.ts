import type { KubernetesObject } from "@swath/kubernetes";
import type { EnvValue, PlatformSecret, Secret, SecretEntry } from "@swath/manifest";
import type { RenderInput } from "./render-input.ts";
import { plainText } from "./environment.ts";
import { keys, metadata } from "./labels.ts";

/** A part of an entry that apply puts together: a text, a key of the Secret's own data, or a secret made once by name. */
export type GeneratedPart =
  | { readonly text: string }
  | { readonly data: string }
  | { readonly name: string; readonly bytes: number };

/**
 * A Secret with the values that are known. Values that are made once, by apply, are described in the annotation
 * `swath.io/generate` (JSON: entry to list of parts), so that rendering stays a pure function and a secret is never
 * written to standard output before it exists.
 */
export function renderSecret(plan: RenderInput, secret: Secret): KubernetesObject {
  const data: Record<string, string> = {};
  const generate: Record<string, readonly GeneratedPart[]> = {};
  for (const [key, entry] of Object.entries(secret.entries)) {
    const parts = flatten(plan, secret, entry);
    if (parts.every((part) => part.kind !== "generated")) {
      data[key] = encode(parts.map((part) => part.value).join(""));
      continue;
    }
    generate[key] = parts.map((part, index): GeneratedPart => {
      switch (part.kind) {
        case "text":
          return { text: part.value };
        case "generated":
          return { name: part.name, bytes: part.bytes };
        case "given": {
          // Annotations are shown more freely than data.
          const own = `${key}.${index}`;
          data[own] = encode(part.value);
          return { data: own };
        }
      }
    });
  }
  const annotations = Object.keys(generate).length === 0 ? undefined : { [keys.generate]: JSON.stringify(generate) };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: metadata(plan.settings, secret.name, secret.namespace, annotations === undefined ? {} : { annotations }),
    type: "Opaque",
    ...(Object.keys(data).length === 0 ? {} : { data }),
  };
}

type FlatPart = { readonly kind: "text"; readonly value: string } | PlatformSecret;

function flatten(plan: RenderInput, secret: Secret, entry: SecretEntry): readonly FlatPart[] {
  return entry.kind === "joined" ? entry.parts.flatMap((part) => flattenPart(plan, secret, part)) : [entry];
}

function flattenPart(plan: RenderInput, secret: Secret, part: EnvValue): readonly FlatPart[] {
  if (typeof part === "object") {
    if ("kind" in part) {
      return [part];
    }
    if ("secret" in part) {
      const other = plan.secrets.find(({ name, namespace }) => name === part.secret && namespace === secret.namespace);
      const entry = other?.entries[part.key];
      // An entry that refers to its own Secret would never end.
      if (other === undefined || entry === undefined || other.name === secret.name) {
        throw new Error(`secret ${secret.name} refers to ${part.secret}/${part.key}, which it cannot`);
      }
      return flatten(plan, other, entry);
    }
    if ("configMap" in part) {
      const map = plan.configMaps.find(
        ({ name, namespace }) => name === part.configMap && namespace === secret.namespace,
      );
      return [{ kind: "text", value: map?.data[part.key] ?? "" }];
    }
  }
  return [{ kind: "text", value: plainText(plan, { name: secret.name }, part) }];
}

function encode(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}

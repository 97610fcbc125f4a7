import {
  PORTAL_CONFIG_KEYS,
  type PortalConfig,
  type PortalConfigKey,
  type PortalIngress,
  type PortalValues,
} from "@swath/manifest";
import { isScalar } from "yaml";

import type { Mistake } from "../report.ts";
import { checkConfigValue } from "./config-values.ts";
import { readHosts, readTls } from "./ingress-values.ts";
import { type ValuesFile, openValuesFile } from "./values-file.ts";

/** The file PORTAL_VALUES as the caller found it. */
export interface PortalValuesFile {
  /** As the operator wrote it. */
  readonly path: string;
  readonly content: { readonly text: string } | { readonly problem: string };
}

export interface PortalValuesResult {
  readonly values: PortalValues;
  readonly mistakes: readonly Mistake[];
}

/**
 * Reads chart values of the portal. Every key that is unknown or has a value it cannot have is a mistake, with its line in
 * the file; what is right is taken.
 */
export function readPortalValues({ path, content }: PortalValuesFile, domain: string): PortalValuesResult {
  if ("problem" in content) {
    return { values: {}, mistakes: [{ subject: "PORTAL_VALUES", value: path, problem: content.problem }] };
  }
  const file = openValuesFile(path, content.text);
  const root = file.document.contents;
  // A file of comments alone overrides nothing.
  const known =
    root === null || (isScalar(root) && root.value === null) ? [] : file.entriesOf(root, [], ["configMap", "ingress"]);
  const values: { -readonly [K in keyof PortalValues]: PortalValues[K] } = {};
  for (const { key, node } of known) {
    if (key === "configMap") {
      values.configMap = readConfigMap(file, node, domain);
    } else {
      values.ingress = readIngress(file, node, domain);
    }
  }
  return { values, mistakes: file.listMistakes() };
}

function readConfigMap(file: ValuesFile, node: unknown, domain: string): Partial<PortalConfig> {
  const found: Partial<Record<PortalConfigKey, string>> = {};
  for (const { key, node: value, path } of file.entriesOf(node, ["configMap"], PORTAL_CONFIG_KEYS)) {
    const text = file.textOf(value, path);
    const problem = text === undefined ? undefined : checkConfigValue(key, text, domain);
    if (problem !== undefined) {
      file.refuse(value, path, problem.problem, problem.allowed);
    } else if (text !== undefined) {
      found[key] = text;
    }
  }
  return found;
}

const INGRESS_KEYS = ["enabled", "annotations", "hosts", "tls"] as const;

function readIngress(file: ValuesFile, node: unknown, domain: string): Partial<PortalIngress> {
  const found: { -readonly [K in keyof PortalIngress]?: PortalIngress[K] } = {};
  for (const { key, node: value, path } of file.entriesOf(node, ["ingress"], INGRESS_KEYS)) {
    switch (key) {
      case "enabled": {
        if (isScalar(value) && typeof value.value === "boolean") {
          found.enabled = value.value;
        } else {
          file.refuse(value, path, "is neither", "true or false");
        }
        break;
      }
      case "annotations": {
        found.annotations = readAnnotations(file, value, path);
        break;
      }
      case "hosts": {
        found.hosts = readHosts(file, value, path, domain);
        break;
      }
      case "tls": {
        found.tls = readTls(file, value, path);
        break;
      }
    }
  }
  return found;
}

function readAnnotations(file: ValuesFile, node: unknown, path: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    file.entriesOf(node, path).flatMap(({ key, node: value, path: where }) => {
      const text = file.textOf(value, where);
      return text === undefined ? [] : [[key, text] as const];
    }),
  );
}

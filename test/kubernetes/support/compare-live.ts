import { mustKubectl } from "@swath/testing/kubernetes";
import { parseAllDocuments } from "yaml";

interface ApiObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/**
 * Holds every object that `template` printed against the live one, field by field. Each difference names the object, the path,
 * what was rendered and what is there. The API server may add fields; it may neither drop nor change one.
 */
export async function compareWithLive(template: string): Promise<{ compared: number; differences: readonly string[] }> {
  const rendered = parseAllDocuments(template, { version: "1.1" }).map((document) => document.toJS() as ApiObject);
  const list = async (...args: readonly string[]) =>
    (JSON.parse(await mustKubectl(["get", "-o", "json", ...args], template)) as { items: readonly ApiObject[] }).items;
  const items = [
    ...(await list("--ignore-not-found", "-f", "-")),
    ...(await list("jobs", "-A", "-l", "app.kubernetes.io/managed-by=swath")),
  ];
  const live = new Map(items.map((object) => [nameOf(object), object]));
  const differences = rendered.flatMap((object) => {
    const name = nameOf(object);
    const present = live.get(name);
    return present === undefined
      ? [`${name} is not there`]
      : compare(object, present, "").map((difference) => `${name}${difference}`);
  });
  return { compared: rendered.length, differences };
}

/** A Job's name ends in a hash of its definition, which holds the sealed hash below. */
const nameOf = ({ kind, metadata: { name, namespace = "" } }: ApiObject): string =>
  `${kind} ${namespace}/${kind === "Job" ? name.replace(/-[0-9a-f]{8}$/, "") : name}`;

/** apply seals this hash with the deployment's key, so that template, which has no key, prints another. */
const SEALED = ".metadata.annotations.swath.io/config-hash";

function compare(rendered: unknown, live: unknown, path: string): readonly string[] {
  if (path === ".metadata.name" || path.endsWith(SEALED)) {
    return [];
  }
  if (Array.isArray(rendered)) {
    return !Array.isArray(live) || live.length !== rendered.length
      ? [describe(path, rendered, live)]
      : rendered.flatMap((item, index) => compare(item, live[index], `${path}[${index}]`));
  }
  if (typeof rendered === "object" && rendered !== null) {
    const fields = (typeof live === "object" && live !== null ? live : {}) as Readonly<Record<string, unknown>>;
    // The API leaves empty lists and objects out.
    return Object.entries(rendered).flatMap(([key, value]) =>
      isEmpty(value) && fields[key] === undefined ? [] : compare(value, fields[key], `${path}.${key}`),
    );
  }
  return rendered === live ? [] : [describe(path, rendered, live)];
}

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

const describe = (path: string, rendered: unknown, live: unknown): string =>
  `${path}: rendered ${JSON.stringify(rendered)}, live ${JSON.stringify(live)}`;

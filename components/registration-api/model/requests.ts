import { hash } from "node:crypto";

import { RegistrationError } from "../queue/errors.ts";
import type { NewTask } from "../store/tasks.ts";
import { PRODUCT_FOLDER } from "./product-folder.ts";

/** A request as the registration API and the workspace API take it. */
export type RegistrationRequest =
  | {
      readonly form: "register";
      readonly type: string;
      readonly url: string;
      readonly parent_identifier?: string | null;
    }
  | { readonly form: "deregister"; readonly identifier?: string | null; readonly url?: string | null }
  | { readonly form: "collection" | "json"; readonly document: Readonly<Record<string, unknown>> }
  | { readonly form: "xml"; readonly xml: string };

/** Who asks, and for whom. */
export interface Requester {
  /** The workspace; empty: the platform. */
  readonly scope: string;
  readonly requestedBy?: string;
  /** Buckets that may be read; left out: all. */
  readonly buckets?: readonly string[];
  readonly idempotencyKey?: string;
  /** What made the data: links for their items. */
  readonly provenance?: object;
}

/** Kinds of tasks by the type of a request. */
const KINDS: Readonly<Record<string, string>> = {
  "stac-item": "stac",
  "stac-collection": "stac",
  "stac-catalog": "stac",
  ades: "service",
  oaproc: "service",
  catalogue: "catalogue",
  xml: "xml",
  application: "application",
};

export const REGISTRATION_TYPES = Object.keys(KINDS);

/** A type that nobody registers. */
export class UnknownTypeError extends Error {
  override readonly name = "UnknownTypeError";
}

/**
 * The task of a request, and what its sender is told.
 * @throws {UnknownTypeError}; {RegistrationError} for what no attempt can carry out
 */
export function toTask(
  request: RegistrationRequest,
  { buckets, provenance, ...requester }: Requester,
): { readonly task: NewTask; readonly message: string } {
  const common = { ...(buckets && { buckets }), ...(provenance && { provenance }) };
  switch (request.form) {
    case "register": {
      const type = request.type.toLowerCase();
      const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
      if (kind === undefined) {
        throw new UnknownTypeError(
          `"${request.type}" cannot be registered; allowed: ${REGISTRATION_TYPES.join(", ")}.`,
        );
      }
      const url = kind === "stac" ? toCatalogUrl(request.url) : request.url;
      return {
        task: {
          ...requester,
          kind,
          orderKey: `url ${url}`,
          payload: { type, url, parent_identifier: request.parent_identifier ?? null, ...common },
        },
        message:
          type === "stac-item"
            ? `STAC Catalog '${url}' was accepted for harvesting`
            : `${request.type} ${url} was applied for registration`,
      };
    }
    case "deregister": {
      const { identifier, url } = request;
      if (!identifier && !url) {
        throw new RegistrationError("Name what is to be taken out: identifier or url.");
      }
      return {
        task: {
          ...requester,
          kind: "deregister",
          orderKey: identifier ? `id ${identifier}` : `url ${url ?? ""}`,
          payload: identifier ? { identifier } : { url },
        },
        message: `Item '${toPythonText(identifier ? { identifier } : { url: url ?? "" })}' was successfully de-registered`,
      };
    }
    case "xml": {
      // Its id is read by a worker; the ledger keeps the order of records.
      const orderKey = `xml ${hash("sha256", request.xml)}`;
      return {
        task: { ...requester, kind: "xml", orderKey, payload: { xml: request.xml, ...common } },
        message: "The record was applied for registration",
      };
    }
    case "collection":
    case "json": {
      const { document } = request;
      const id = typeof document["id"] === "string" ? document["id"] : "document";
      return {
        task: { ...requester, kind: request.form, orderKey: `id ${id}`, payload: { document, ...common } },
        message: `${id} was applied for registration`,
      };
    }
  }
}

/** A folder means its catalogue, unless it is a product. */
function toCatalogUrl(url: string): string {
  return url.endsWith("/") && !PRODUCT_FOLDER.test(url) ? `${url}catalog.json` : url;
}

/** Existing clients read the message as it was: a dictionary of Python. */
function toPythonText(value: Readonly<Record<string, string>>): string {
  const quote = (text: string): string =>
    text.includes("'") && !text.includes('"')
      ? `"${text.replaceAll("\\", "\\\\")}"`
      : `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  return `{${Object.entries(value)
    .map(([key, text]) => `${quote(key)}: ${quote(text)}`)
    .join(", ")}}`;
}

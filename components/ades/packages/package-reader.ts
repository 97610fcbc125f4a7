import { CwlError, createLoader } from "@swath/cwl";
import { LRUCache } from "lru-cache";

import { OgcError, invalidParameter } from "../errors.ts";
import type { PackageWork, WorkResponse, WorkRequest } from "./package-work-types.ts";

/** Longest text of a package, in bytes. Packages are texts that people write; what is larger is something else. */
export const MAX_PACKAGE_BYTES = 2 * 2 ** 20;
/** The same of an ontology, of which some lines are kept: those of the field have 1.5 to 3.5 MB. */
export const MAX_ONTOLOGY_BYTES = 16 * 2 ** 20;
/** Milliseconds that reading a package may take. */
const MAX_READ_MS = 5000;
/** Memory that a thread may use meanwhile. */
const MAX_HEAP_MIB = 384;
/** Threads: with two, one user's package holds up nobody else's. */
const MAX_THREADS = 2;
/** Packages that wait to be read, and how many of them may be one user's. */
const MAX_WAITING = 100;
const MAX_WAITING_OF_USER = 20;
/** Facts of packages that are remembered. */
const MAX_REMEMBERED = 256;

/** Reads packages in threads of their own, with limits, so that the service goes on answering whatever somebody sends. */
export interface PackageReader {
  /**
   * @param owner whose package it is: each user has one thread at a time
   * @throws {OgcError} 400 for what is wrong with it or too much; 429 and 503 where too many wait
   */
  readonly read: <Kind extends keyof PackageWork>(
    kind: Kind,
    owner: string,
    requested: PackageWork[Kind]["requested"],
  ) => Promise<PackageWork[Kind]["found"]>;
  readonly close: () => Promise<void>;
}

export function openPackageReader(): PackageReader {
  const loader = createLoader({
    threads: MAX_THREADS,
    memoryMiB: MAX_HEAP_MIB,
    maxWaiting: MAX_WAITING,
    warm: true,
    work: new URL("package-work.ts", import.meta.url),
  });
  const remembered = new LRUCache<string, Promise<unknown>>({ max: MAX_REMEMBERED });
  /** Packages of each user that are read or wait. */
  const pending = new Map<string, number>();

  const submit = async (kind: keyof PackageWork, owner: string, requested: unknown): Promise<unknown> => {
    const ofUser = pending.get(owner) ?? 0;
    if (ofUser > MAX_WAITING_OF_USER) {
      throw tooMany(429, `${MAX_WAITING_OF_USER} packages of yours wait to be read already`);
    }
    pending.set(owner, ofUser + 1);
    try {
      const request: WorkRequest = { kind, requested };
      const response = (await loader.run(request, { owner, milliseconds: MAX_READ_MS })) as WorkResponse;
      if ("error" in response) {
        throw toError(response.error);
      }
      return response.found;
    } catch (error) {
      throw error instanceof CwlError ? toOgcError(error, kind) : error;
    } finally {
      const left = (pending.get(owner) ?? 1) - 1;
      if (left === 0) {
        pending.delete(owner);
      } else {
        pending.set(owner, left);
      }
    }
  };
  return {
    read: <Kind extends keyof PackageWork>(kind: Kind, owner: string, requested: PackageWork[Kind]["requested"]) => {
      if (kind !== "reduceOntology") {
        checkSize(requested.text);
      }
      if (kind !== "facts") {
        return submit(kind, owner, requested) as Promise<PackageWork[Kind]["found"]>;
      }
      const { text, process } = requested as PackageWork["facts"]["requested"];
      const key = `${process}\n${text}`;
      let known = remembered.get(key);
      if (known === undefined) {
        known = submit(kind, owner, requested);
        remembered.set(key, known);
        known.catch(() => remembered.delete(key));
      }
      return known as Promise<PackageWork[Kind]["found"]>;
    },
    close: loader.close,
  };
}

/** @throws {OgcError} 413 */
export function checkBytes(bytes: number): void {
  if (bytes > MAX_PACKAGE_BYTES) {
    throw new OgcError(
      413,
      "PackageTooLarge",
      `The application package has ${bytes} bytes; allowed: ${MAX_PACKAGE_BYTES}.`,
    );
  }
}

/** @throws {OgcError} 400, 413 */
function checkSize(text: string): void {
  checkBytes(Buffer.byteLength(text));
  if (text.includes("\0")) {
    throw invalidParameter("The application package is not a text in UTF-8; it has to be YAML or JSON.");
  }
}

/** What the loader itself says of a package. */
function toOgcError({ code, message }: CwlError, kind: keyof PackageWork): OgcError {
  switch (code) {
    case "busy":
      return tooMany(503, "Too many packages wait to be read");
    case "cancelled":
      return new OgcError(503, "Stopping", "The service stops; try again.");
    default:
      if (kind === "reduceOntology") {
        return invalidParameter(message);
      }
      return invalidParameter(
        `The application package cannot be read: ${message}; make it smaller, with fewer aliases.`,
      );
  }
}

const tooMany = (status: 429 | 503, what: string): OgcError =>
  new OgcError(status, "TooManyPackages", `${what}; try again in some seconds.`, { headers: { "retry-after": "5" } });

function toError({ message, ogc }: Extract<WorkResponse, { readonly error: unknown }>["error"]): Error {
  if (ogc === undefined) {
    return new Error(message);
  }
  const { status, title, type, extensions } = ogc;
  return new OgcError(status, title, message, { type, extensions });
}

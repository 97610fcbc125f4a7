import { setTimeout as sleep } from "node:timers/promises";

import { nameContent } from "@swath/products";
import { isUnavailable } from "@swath/service";
import { StacError, type WalkOptions, isStac, parseStac } from "@swath/stac";
import { createBackOff } from "@swath/work";

import { RegistrationError } from "../queue/errors.ts";
import type { ReadOptions, SourceDocument, Sources } from "../sources/source-types.ts";
import type { RecordProblem } from "../store/problems.ts";
import type { PartFailures } from "./part-failures.ts";

/** A page without items, in place of what cannot be read. */
const NOTHING = { type: "FeatureCollection", features: [], links: [] };
const ATTEMPTS = 4;
const backOff = createBackOff({ firstSeconds: 0.5, maxSeconds: 2 });
const MAX_WAIT_SECONDS = 60;
/** A source that needed longer to fail is asked again by a later attempt of the task, so that it does not hold a place. */
const MAX_QUICK_FAILURE_MS = 10_000;
/** Of one record, as the catalogue takes it. */
const MAX_RECORD_MIB = 8;

/** Reads a JSON document. */
export async function readJson(
  sources: Sources,
  href: string,
  options: ReadOptions,
): Promise<{ readonly value: unknown; readonly href: string }> {
  const accept = "application/geo+json, application/json";
  const document = await readWithPatience(sources, href, { accept, ...options });
  const value = parseJson(document.bytes, href);
  // Refused before copies of it are made.
  if (document.bytes.length > MAX_RECORD_MIB * 2 ** 20 && (value as { type?: unknown } | null)?.type === "Feature") {
    const size = (document.bytes.length / 2 ** 20).toFixed(1);
    throw new RegistrationError(
      `${href.slice(0, 300)} is one record of ${size} MiB, and a record may have ${MAX_RECORD_MIB} MiB; leave out of it what belongs into an asset.`,
    );
  }
  return { href: document.href, value };
}

/** Reads a document; a source that fails for a moment is asked again, and left in peace for as long as it asks. */
export async function readWithPatience(sources: Sources, href: string, options: ReadOptions): Promise<SourceDocument> {
  for (let attempt = 1; ; attempt += 1) {
    const started = performance.now();
    try {
      return await sources.read(href, options);
    } catch (error) {
      const { isTransient = false, retryAfter = 0 } = error instanceof RegistrationError ? error : {};
      const isSlow = performance.now() - started > MAX_QUICK_FAILURE_MS;
      if (!isTransient || isSlow || attempt >= ATTEMPTS || retryAfter > MAX_WAIT_SECONDS) {
        throw error;
      }
      await sleep(Math.max(retryAfter * 1000, backOff(attempt) * 1000), undefined, { signal: options.signal });
    }
  }
}

export function parseJson(bytes: Buffer, href: string): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    const name = nameContent(bytes, href);
    const problem =
      name === undefined
        ? `is not valid JSON: ${(cause as Error).message}.`
        : `is ${name}, which is not converted. What can be registered is STAC, a raster, or the folder or metadata file of a Sentinel-1, 2, 3 or Landsat product; register a STAC item that has this file as an asset.`;
    throw new RegistrationError(`${href} ${problem}`, { cause });
  }
}

/**
 * The `read` of a walk that goes on when a part of a catalogue is broken or away: what cannot be read is told to `failures`, and its place
 * taken by nothing. When the source itself is away its failure is thrown.
 */
export function createTolerantReader(
  load: (href: string) => Promise<{ readonly value: unknown; readonly href: string }>,
  { signal }: Pick<ReadOptions, "signal">,
  failures: PartFailures,
): WalkOptions["read"] {
  return async (href, _from, rel) => {
    try {
      const { value, href: address } = await load(href);
      failures.reset();
      return { href: address, value: keepGoodParts(value, address, failures.note) };
    } catch (error) {
      signal.throwIfAborted();
      if (isUnavailable(error)) {
        throw error;
      }
      const known = error instanceof RegistrationError ? error : undefined;
      if (rel !== "item" && known?.isGone !== true) {
        failures.noteMissedCatalog(href);
      }
      if (known?.isTransient === true) {
        failures.postpone(href, known);
      } else {
        failures.note({ record: href, reason: (error as Error).message, isGone: known?.isGone ?? false });
      }
      return { href, value: NOTHING };
    }
  };
}

/** The document, of a page its good items. @throws {StacError} where nothing is good */
export function keepGoodParts(value: unknown, href: string, onProblem: (problem: RecordProblem) => void): unknown {
  const { type, features } = (value ?? {}) as { type?: unknown; features?: unknown };
  if (type !== "FeatureCollection" || !Array.isArray(features)) {
    if (!isStac(value)) {
      throw new StacError(href, "is not a STAC item, collection, catalogue or item collection");
    }
    parseStac(value, href);
    return value;
  }
  const good = features.filter((feature: unknown, index) => {
    try {
      return isStac(feature) && parseStac(feature, href).type === "Feature" ? true : fail("is not a STAC item");
    } catch (error) {
      const id = (feature as { id?: unknown } | null)?.id;
      onProblem({
        record: typeof id === "string" ? id : `${href} /features/${index}`,
        reason: (error as Error).message,
      });
      return false;
    }
  });
  return { ...(value as object), features: good };
}

function fail(message: string): never {
  throw new Error(message);
}

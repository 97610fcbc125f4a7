import type { Kysely } from "kysely";

import { OgcError } from "../errors.ts";
import { displayUrl } from "../staging/display-url.ts";
import { StagingError } from "../staging/errors.ts";
import { DEFAULT_LIMITS } from "../staging/in/limits.ts";
import { openSources } from "../staging/in/sources.ts";
import type { S3Access } from "../staging/types.ts";
import type { Tables } from "../store/tables.ts";
import type { InputSource } from "./read-inputs.ts";
import { findReadableStorage, isResultAddress, toStoredAddress } from "./result-access.ts";
import { type AdesSettings, allowedPrivate, internalServices } from "./storage.ts";
import { withinMoments } from "./within-moments.ts";

/** Inputs that are looked at before a job is accepted; the job itself looks at all. */
const MAX_CHECKED = 100;

/**
 * Refuses inputs whose addresses say that the job could not read them: buckets and results of others, private addresses. What lies at
 * an address is not looked at, and while the storage is away nothing in it is refused: the job waits for it.
 * @throws {OgcError} 403 with the first such input
 */
export async function checkInputAccess(
  { db, settings }: { readonly db: Kysely<Tables>; readonly settings: AdesSettings },
  owner: string,
  inputs: readonly InputSource[],
): Promise<void> {
  const fetched = inputs.map(({ href }) => href).filter((href) => !href.startsWith("data:"));
  const addresses = await Promise.all(
    fetched.slice(0, MAX_CHECKED).map((href) => toStoredAddress(db, settings, owner, href)),
  );
  const unknown = addresses.find((address) => isResultAddress(settings, address));
  if (unknown !== undefined) {
    throw notReadable(`${displayUrl(unknown)} is no result of a job of yours that has ended`);
  }
  const s3 = addresses.some(isObject) ? await findAccess(db, settings, owner) : undefined;
  const sources = openSources(
    { allowPrivate: allowedPrivate(settings), internal: internalServices(settings, owner), s3: s3 ?? [] },
    DEFAULT_LIMITS,
  );
  try {
    for (const address of addresses) {
      if (!isObject(address) || s3 !== undefined) {
        await sources.checkAccess(address);
      }
    }
  } catch (error) {
    throw error instanceof StagingError ? notReadable(error.message) : error;
  } finally {
    await sources.close();
  }
}

const notReadable = (reason: string): OgcError =>
  new OgcError(403, "InputNotReadable", `An input cannot be read: ${reason}.`);

const isObject = (address: string): boolean => /^s3:/i.test(address);

/** `undefined` while the storage, or what leads to it, does not answer; a job says what is wrong with it. */
async function findAccess(
  db: Kysely<Tables>,
  settings: AdesSettings,
  owner: string,
): Promise<readonly S3Access[] | undefined> {
  return withinMoments(
    findReadableStorage(db, settings, owner).then(
      ({ access }) => access,
      () => undefined,
    ),
  );
}

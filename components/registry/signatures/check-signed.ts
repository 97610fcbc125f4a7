import type { KeyObject } from "node:crypto";

import type { BlobStore } from "../blobs/blob-store.ts";
import { RegistryError } from "../errors.ts";
import { projectOf } from "../protocol/names.ts";
import type { Sql } from "../store/database.ts";
import { findLinkedBlob } from "../store/links.ts";
import { findProject } from "../store/projects.ts";
import { SIGNATURE_TYPE, findSignatures, isSigned, parseKey, tagOfSignatures } from "./cosign.ts";

interface CheckOptions {
  readonly sql: Sql;
  readonly blobs: BlobStore;
  /** With the project. */
  readonly repository: string;
  readonly digest: string;
}

const MAX_MANIFESTS = 50;
const MAX_SIGNATURES = 50;
const MAX_PAYLOAD_BYTES = 64 << 10;

/**
 * Refuses a pull for processing where the policy of the project demands a signature, of the manifest or of an index that it belongs to,
 * and none of its keys has made one.
 * @throws {RegistryError} DENIED
 */
export async function checkSigned(options: CheckOptions): Promise<void> {
  const { sql, repository, digest } = options;
  const project = await findProject(sql, projectOf(repository));
  if (project?.preventsUnsigned !== true) {
    return;
  }
  const keys = project.trustedKeys.flatMap((text) => parseKey(text) ?? []);
  const parents = await sql.query<{ parent: string }>(
    `select parent from manifest_child c join repository r on r.id = c.repository_id
     where r.name = $1 and c.child = $2 order by parent limit ${MAX_MANIFESTS}`,
    [repository, digest],
  );
  for (const subject of [digest, ...parents.map(({ parent }) => parent)]) {
    if (await hasSignature(options, subject, keys)) {
      return;
    }
  }
  throw new RegistryError(
    "DENIED",
    `${repository}@${digest} is not signed with a key that project ${project.name} trusts, which its policy demands for processing; sign it with cosign.`,
    { detail: { repository, digest } },
  );
}

async function hasSignature(
  { sql, blobs, repository }: CheckOptions,
  subject: string,
  keys: readonly KeyObject[],
): Promise<boolean> {
  const manifests = await sql.query<{ content: Buffer }>(
    `select m.content from manifest m join repository r on r.id = m.repository_id
     where r.name = $1 and ((m.subject = $2 and m.artifact_type = $3) or m.digest = (
       select t.digest from tag t where t.repository_id = r.id and t.name = $4))
     order by m.pushed_at desc limit ${MAX_MANIFESTS}`,
    [repository, subject, SIGNATURE_TYPE, tagOfSignatures(subject)],
  );
  const signatures = manifests.flatMap(({ content }) => {
    const { layers = [] } = JSON.parse(content.toString("utf8")) as { layers?: Parameters<typeof findSignatures>[0] };
    return findSignatures(layers);
  });
  for (const { payload, signature } of signatures.slice(0, MAX_SIGNATURES)) {
    const blob = await findLinkedBlob(sql, repository, payload);
    if (blob === undefined || blob.size === 0 || blob.size > MAX_PAYLOAD_BYTES) {
      continue;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of await blobs.read(blob.storageId, { start: 0, end: blob.size - 1 })) {
      chunks.push(chunk as Buffer);
    }
    if (isSigned(Buffer.concat(chunks), signature, subject, keys)) {
      return true;
    }
  }
  return false;
}

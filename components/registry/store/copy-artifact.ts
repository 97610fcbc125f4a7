import type { Holder } from "../access/caller.ts";
import { RegistryError } from "../errors.ts";
import { parseManifest } from "../protocol/manifest.ts";
import { projectOf } from "../protocol/names.ts";
import type { Sql } from "./database.ts";
import { linkBlob } from "./links.ts";
import { type Referrer, listReferrers, readManifest } from "./manifests.ts";
import { lockProject } from "./projects.ts";
import { putManifest } from "./put-manifest.ts";
import { ensureRepository } from "./repositories.ts";

export interface ArtifactCopy {
  readonly source: string;
  readonly digest: string;
  readonly target: string;
  /** It gets in the target repository. */
  readonly tags: readonly string[];
  readonly actor: string;
  readonly holder: Holder;
}

const MAX_MANIFESTS = 500;
/** Referrers that are read at once. */
const PAGE = 100;
/** Longer than the transaction. */
const PIN_SECONDS = 600;

/**
 * Copies an artifact into another repository, with the manifests of an index and what refers to it (signatures, SBOMs), all or nothing. Content
 * is linked, not copied. The caller may pull from the source and push to the target.
 * @throws {RegistryError} as `putManifest`, and MANIFEST_UNKNOWN where a part is not there
 */
export async function copyArtifact(tx: Sql, copy: ArtifactCopy): Promise<void> {
  const { source, digest, target } = copy;
  const project = await lockProject(tx, projectOf(target));
  const repositoryId = await ensureRepository(tx, project, target);
  const done = new Set<string>();
  const bring = async (part: string, tags: readonly string[]): Promise<void> => {
    if (done.has(part)) {
      return;
    }
    if (done.size >= MAX_MANIFESTS) {
      throw new RegistryError("DENIED", `The artifact has more than ${MAX_MANIFESTS} manifests; copy its parts.`);
    }
    done.add(part);
    const manifest = await readManifest(tx, source, part);
    if (manifest === undefined) {
      throw new RegistryError("MANIFEST_UNKNOWN", `${source}@${part} does not exist, which the artifact refers to.`);
    }
    const parsed = parseManifest(manifest.content, manifest.mediaType);
    // What the index names comes first.
    for (const child of parsed.children) {
      await bring(child, []);
    }
    for (const blob of parsed.blobs.toSorted()) {
      const pin = { repositoryId, digest: blob, holder: copy.holder, seconds: PIN_SECONDS };
      if (!(await linkBlob(tx, project.id, pin))) {
        throw new RegistryError("BLOB_UNKNOWN", `The content ${blob} of ${source}@${part} is not there any more.`);
      }
    }
    const { content } = manifest;
    const { actor, holder } = copy;
    await putManifest(tx, {
      project: project.name,
      repository: target,
      digest: part,
      content,
      parsed,
      tags,
      actor,
      holder,
    });
  };
  await bring(digest, copy.tags);
  // In pages, which have a size of their own.
  for (let last: string | undefined = ""; last !== undefined;) {
    const page: readonly Referrer[] = await listReferrers(tx, source, {
      subject: digest,
      artifactType: undefined,
      last,
      n: PAGE,
    });
    for (const referrer of page) {
      await bring(referrer.digest, []);
    }
    last = page.at(-1)?.digest;
  }
}

import { RegistryError } from "../errors.ts";
import { readBody } from "../protocol/body.ts";
import { type DigestAlgorithm, digestOf, findDigest, parseAlgorithm, parseDigest } from "../protocol/digest.ts";
import { MAX_MANIFEST_BYTES, parseManifest } from "../protocol/manifest.ts";
import { isTag, projectOf } from "../protocol/names.ts";
import { checkSigned } from "../signatures/check-signed.ts";
import { deleteManifest, deleteTag } from "../store/delete-manifest.ts";
import { refuseCache } from "../store/projects.ts";
import { putManifest } from "../store/put-manifest.ts";
import { type OperationContext, sendEmpty } from "./operation.ts";

interface ManifestTarget {
  readonly name: string;
  readonly reference: string;
}

/** Tags of one request. */
const MAX_TAGS = 100;

/** GET and HEAD of a manifest (end-3). */
export async function getManifest(context: OperationContext, { name, reference }: ManifestTarget): Promise<void> {
  const { deps, caller, message, response, method } = context;
  const key = findDigest(reference) ?? (isTag(reference) ? reference : undefined);
  // One question to the database for both what is there and whose it is.
  const found = key === undefined ? undefined : await deps.manifests.find({ repository: name, reference });
  await caller.requireIn(found?.project, name, "pull", ...(method === "HEAD" ? (["push"] as const) : []));
  let manifest = found && (await deps.manifests.read(name, found));
  // A tag of a cache is asked after, for it may have moved.
  if (key !== undefined && (manifest === undefined || (manifest.isCached && typeof key === "string"))) {
    manifest = await deps.cache.readManifest(name, reference, manifest);
  }
  if (manifest === undefined) {
    throw new RegistryError("MANIFEST_UNKNOWN", "The manifest is unknown to the repository.", {
      detail: { name, reference: reference.slice(0, 200) },
    });
  }
  if (caller.isDelegate) {
    await checkSigned({ sql: deps.database, blobs: deps.blobs, repository: name, digest: manifest.digest });
  }
  const etag = `"${manifest.digest}"`;
  if (message.headers["if-none-match"]?.includes(manifest.digest) === true) {
    sendEmpty(response, 304, { etag, "docker-content-digest": manifest.digest });
    return;
  }
  response.writeHead(200, {
    "content-type": manifest.mediaType,
    "content-length": manifest.content.length,
    "docker-content-digest": manifest.digest,
    etag,
  });
  response.end(method === "HEAD" ? undefined : manifest.content);
  if (method === "GET") {
    deps.pulls.record({ repository: name, reference, digest: manifest.digest, by: caller.name });
  }
}

/** PUT of a manifest (end-7a), also of a digest with tags (end-7b). */
export async function pushManifest(context: OperationContext, { name, reference }: ManifestTarget): Promise<void> {
  const { deps, caller, message, response, query } = context;
  await caller.require(name, "push");
  const expected = reference.includes(":") ? parseDigest(reference) : undefined;
  const extra = query.getAll("tag");
  const tags = [...new Set([...(expected === undefined ? [reference] : []), ...extra])];
  checkTags(tags);
  const content = await readBody(message, MAX_MANIFEST_BYTES);
  const algorithm: DigestAlgorithm = expected?.algorithm ?? parseAlgorithm(query.get("digest-algorithm") ?? "sha256");
  const digest = digestOf(content, algorithm);
  if (expected !== undefined && expected.text !== digest) {
    throw new RegistryError("DIGEST_INVALID", "The digest does not match the manifest.", {
      detail: { digest, expected: expected.text },
    });
  }
  const parsed = parseManifest(content, message.headers["content-type"]);
  await refuseCache(deps.database, name);
  await deps.database.transact((tx) =>
    putManifest(tx, {
      project: projectOf(name),
      repository: name,
      digest,
      content,
      parsed,
      tags,
      actor: caller.name,
      holder: caller.holder,
    }),
  );
  sendEmpty(response, 201, {
    location: `/v2/${name}/manifests/${digest}`,
    "docker-content-digest": digest,
    ...(parsed.subject !== undefined && { "oci-subject": parsed.subject }),
    ...(extra.length > 0 && { "oci-tag": tags.join(", ") }),
  });
}

function checkTags(tags: readonly string[]): void {
  const wrong = tags.find((tag) => !isTag(tag));
  if (wrong !== undefined) {
    throw new RegistryError(
      "TAG_INVALID",
      "The tag is invalid; it must be up to 128 letters, digits and _ . -, and not begin with . or -.",
      { detail: { tag: wrong.slice(0, 200) } },
    );
  }
  if (tags.length > MAX_TAGS) {
    throw new RegistryError("TAG_INVALID", `A manifest gets at most ${MAX_TAGS} tags at once.`);
  }
}

/** DELETE of a manifest or of a tag (end-9). */
export async function removeManifest(context: OperationContext, { name, reference }: ManifestTarget): Promise<void> {
  const { deps, caller, response } = context;
  await caller.require(name, "delete");
  const digest = reference.includes(":") ? parseDigest(reference).text : undefined;
  const deletion = { project: projectOf(name), repository: name, actor: caller.name };
  await deps.database.transact((tx) =>
    digest === undefined ? deleteTag(tx, deletion, reference) : deleteManifest(tx, deletion, digest),
  );
  sendEmpty(response, 202);
}

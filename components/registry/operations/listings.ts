import { createLoginChallenge } from "../access/caller.ts";
import { listVisibleProjects } from "../access/principal.ts";
import { RegistryError } from "../errors.ts";
import { parseDigest } from "../protocol/digest.ts";
import { nextLink, parsePage } from "../protocol/page.ts";
import { listReferrers, listTags } from "../store/manifests.ts";
import { findRepository, listRepositoryNames } from "../store/repositories.ts";
import { type OperationContext, sendJson } from "./operation.ts";

/** Whether the registry is there and the login is good (end-1). */
export async function getBase({ deps, caller, response }: OperationContext): Promise<void> {
  if (caller.isAnonymous && response.req.headers.authorization === undefined) {
    throw createLoginChallenge(deps.access);
  }
  sendJson(response, {});
}

/** Repositories that the caller may pull from. */
export async function getCatalog({ deps, caller, response, path, query }: OperationContext): Promise<void> {
  const principal = await caller.principal();
  if (principal === undefined || principal.kind === "anonymous") {
    throw createLoginChallenge(deps.access);
  }
  const { n, last } = parsePage(query);
  const visible = await listVisibleProjects(deps.database, principal);
  const names = await listRepositoryNames(deps.database, { visible, last, n: n + 1 });
  const page = names.slice(0, n);
  sendJson(response, { repositories: page }, linkHeaders(names.length > n, { path, query, n, last: page.at(-1) }));
}

/** Tags of a repository (end-8a, end-8b). */
export async function getTags(
  { deps, caller, response, path, query }: OperationContext,
  { name }: { readonly name: string },
): Promise<void> {
  await caller.require(name, "pull");
  const { n, last } = parsePage(query);
  const repository = await findRepository(deps.database, name);
  if (repository === undefined) {
    throw new RegistryError("NAME_UNKNOWN", "The repository is unknown to the registry.", { detail: { name } });
  }
  const tags = await listTags(deps.database, repository.id, { last, n: n + 1 });
  const page = tags.slice(0, n);
  sendJson(response, { name, tags: page }, linkHeaders(tags.length > n, { path, query, n, last: page.at(-1) }));
}

/** Manifests whose subject is a manifest, which need not exist (end-12a, end-12b). */
export async function getReferrers(
  { deps, caller, response, path, query }: OperationContext,
  { name, digest }: { readonly name: string; readonly digest: string },
): Promise<void> {
  await caller.require(name, "pull");
  const subject = parseDigest(digest).text;
  const artifactType = query.get("artifactType") ?? undefined;
  const { n, last } = parsePage(query);
  const page = await listReferrers(deps.database, name, { subject, artifactType, last, n });
  const end = page.at(-1)?.digest;
  const rest =
    end === undefined ? [] : await listReferrers(deps.database, name, { subject, artifactType, last: end, n: 1 });
  const body = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: page.map((each) => ({
      mediaType: each.mediaType,
      digest: each.digest,
      size: each.size,
      ...(each.artifactType !== null && { artifactType: each.artifactType }),
      ...(each.annotations !== null && { annotations: each.annotations }),
    })),
  };
  sendJson(response, body, {
    "content-type": body.mediaType,
    ...(artifactType !== undefined && { "oci-filters-applied": "artifactType" }),
    ...linkHeaders(rest.length > 0, { path, query, n, last: end }),
  });
}

interface PageOf {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly n: number;
  readonly last: string | undefined;
}

function linkHeaders(hasMore: boolean, { path, query, n, last }: PageOf): Readonly<Record<string, string>> {
  return hasMore && last !== undefined ? { link: nextLink(path, query, { n, last }) } : {};
}

import { RegistryRefusal } from "@swath/oci";

import { isRepositoryName, isTag } from "../protocol/names.ts";
import type { Sql } from "../store/database.ts";
import { compilePattern } from "../store/patterns.ts";
import type { Replication } from "../store/replication.ts";
import type { OpenUpstream } from "../upstreams/upstreams.ts";

interface Planned {
  readonly source: string;
  readonly tag: string;
  readonly target: string;
}

const MAX_REPOSITORIES = 2000;
const MAX_TAGS = 20_000;

/** What a replication copies: every tag at the source that its patterns fit. */
export async function planReplication(
  sql: Sql,
  upstream: OpenUpstream,
  replication: Replication,
): Promise<readonly Planned[]> {
  return replication.direction === "pull" ? planPull(upstream, replication) : planPush(sql, replication);
}

async function planPull(
  { client, toName }: OpenUpstream,
  { repositories, tags, target }: Replication,
): Promise<readonly Planned[]> {
  const fits = compilePattern(repositories);
  // Docker Hub has no list of its repositories; a name without stars needs none.
  const names = /[*?{]/.test(repositories)
    ? (await client.list("repositories", MAX_REPOSITORIES)).filter((name) => fits?.(name))
    : [toName(repositories)];
  const fitsTag = compilePattern(tags);
  const planned: Planned[] = [];
  for (const source of names) {
    const own = `${target}/${source}`;
    if (!isRepositoryName(own)) {
      throw new RegistryRefusal(400, `${source} has no name here: ${own} is not the name of a repository.`);
    }
    const found = await client.list({ tagsOf: source }, MAX_TAGS);
    for (const tag of found) {
      if (isTag(tag) && fitsTag?.(tag) === true && planned.length < MAX_TAGS) {
        planned.push({ source, tag, target: own });
      }
    }
  }
  return planned;
}

async function planPush(sql: Sql, { repositories, tags, target }: Replication): Promise<readonly Planned[]> {
  const fits = compilePattern(repositories);
  const fitsTag = compilePattern(tags);
  const rows = await sql.query<{ name: string; tag: string }>(
    `select r.name, t.name as tag from tag t join repository r on r.id = t.repository_id order by r.name, t.pushed_at, t.name`,
  );
  return rows
    .filter(({ name, tag }) => fits?.(name) === true && fitsTag?.(tag) === true)
    .slice(0, MAX_TAGS)
    .map(({ name, tag }) => ({
      source: name,
      tag,
      // A namespace takes the place of the project.
      target: target === "" ? name : `${target}/${name.slice(name.indexOf("/") + 1)}`,
    }));
}

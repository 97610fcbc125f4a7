import { type PooledDatabase, openPool } from "@swath/postgres/pool";

interface Options {
  readonly url: string;
  readonly connections?: number;
  readonly onError: (error: Error) => void;
}

/** The catalogue's schema, brought up to date. Its statements are its own: what a search reads is composed, what a load writes is copied. */
export function openCatalogueDatabase({ url, connections = 16, onError }: Options): Promise<PooledDatabase> {
  return openPool({
    url,
    schema: "catalogue",
    migrations: `${import.meta.dirname}/../migrations`,
    connections,
    onError,
  });
}

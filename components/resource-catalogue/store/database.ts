import { type Database, openDatabase } from "@swath/postgres";

/** Tables are reached by statements of our own: what a search reads and a load writes is composed, or copied as a stream. */
export type CatalogueDatabase = Database<Record<string, never>>;

interface Options {
  readonly url: string;
  readonly connections?: number;
  readonly onError: (error: Error) => void;
}

/** The catalogue's schema, brought up to date. */
export function openCatalogueDatabase({ url, connections = 16, onError }: Options): Promise<CatalogueDatabase> {
  return openDatabase({
    url,
    schema: "catalogue",
    migrations: `${import.meta.dirname}/../migrations`,
    connections,
    onError,
  });
}

import type { ObjectStore } from "../store/store.ts";

export interface Damage {
  /** Id of a content file, or `index:<number>` for small content. */
  readonly file: string;
  readonly what: string;
}

/** Objects whose bytes the disk has lost, as the scrub and failed reads find them. */
export class Damages {
  readonly #store: ObjectStore;
  readonly #onDamage: (damage: Damage) => void;
  /** Small content that is damaged; of files the index keeps it. */
  readonly #small = new Map<string, string>();

  constructor(store: ObjectStore, onDamage: (damage: Damage) => void) {
    this.#store = store;
    this.#onDamage = onDamage;
  }

  /** Keeps what was found, or that a file is sound; tells of what was not known before. */
  async note(file: string, what: string | undefined): Promise<void> {
    const { index } = this.#store;
    if (file.startsWith("index:")) {
      if (what === undefined) {
        this.#small.delete(file);
      } else if (!this.#small.has(file)) {
        this.#small.set(file, what);
        this.#onDamage({ file, what });
      }
      return;
    }
    const find = () =>
      index.get<{ garbage: number; damage: string | null }>("select garbage, damage from files where id = ?", file);
    const isNews = (row: ReturnType<typeof find>) =>
      row !== undefined && row.garbage === 0 && row.damage !== (what ?? null);
    if (!isNews(find())) {
      return;
    }
    // Many may read it at the same time: the first of them tells.
    const wasSound = await index.mutate(() => {
      const row = find();
      if (isNews(row)) {
        index.run("update files set damage = ? where id = ?", what ?? null, file);
      }
      return row?.damage === null && row.garbage === 0;
    });
    if (what !== undefined && wasSound) {
      this.#onDamage({ file, what });
    }
  }

  /** What is known to be damaged now, at most `limit` of it. */
  list(limit: number): readonly Damage[] {
    const files = this.#store.index.all<{ id: string; damage: string }>(
      "select id, damage from files where damage is not null and garbage = 0 limit ?",
      limit,
    );
    return [
      ...files.map(({ id, damage }) => ({ file: id, what: damage })),
      ...[...this.#small].map(([file, what]) => ({ file, what })),
    ].slice(0, limit);
  }
}

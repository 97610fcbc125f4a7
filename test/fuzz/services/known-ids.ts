import { pick } from "./hostile-values.ts";

const MAX_IDS = 200;
const MAX_LEARNT_CHARACTERS = 1 << 20;

/** Ids that a service has shown, so that some requests get to what exists. */
export class KnownIds {
  readonly #ids: string[];
  readonly #user: string;
  readonly #kept: Readonly<Record<string, string>>;

  /** @param kept values of parameters that are made for the purpose: other things of their kind are not changed */
  constructor(user: string, kept: Readonly<Record<string, string>> = {}) {
    this.#user = user;
    this.#kept = kept;
    this.#ids = [user, ...Object.values(kept)];
  }

  /** Takes the ids of a JSON answer. */
  learn(text: string): void {
    for (const [, id = ""] of text
      .slice(0, MAX_LEARNT_CHARACTERS)
      .matchAll(/"(?:id|name|identifier)": ?"([^"\\]{1,100})"/g)) {
      if (this.#ids.length < MAX_IDS && !this.#ids.includes(id)) {
        this.#ids.push(id);
      }
    }
  }

  /** One for a parameter of a path. */
  choose(random: (below: number) => number, parameter: string, method: string): string {
    const kept = Object.hasOwn(this.#kept, parameter) ? this.#kept[parameter] : undefined;
    if (kept !== undefined && (method !== "get" || random(3) > 0)) {
      return kept;
    }
    return /user/i.test(parameter) ? this.#user : pick(random, this.#ids);
  }
}

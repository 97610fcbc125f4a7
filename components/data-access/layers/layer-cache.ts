import { MAX_AGE_MS } from "./basis.ts";
import type { Caller, Layer } from "./layer.ts";

const MAX_CACHED = 1000;

interface LayerCache {
  readonly find: (id: string, caller: Caller, load: () => Promise<Layer | undefined>) => Promise<Layer | undefined>;
  readonly list: (caller: Caller, load: () => Promise<readonly Layer[]>) => Promise<readonly Layer[]>;
  readonly forget: (id: string) => void;
}

/** The same caller asks for many tiles of a layer at once. Nothing is shared between callers. */
export function createLayerCache(): LayerCache {
  const cached = new Map<string, { readonly at: number; readonly value: Promise<unknown> }>();
  const keep = <T>(id: string, caller: Caller, load: () => Promise<T>): Promise<T> => {
    const key = keyOf(id, caller);
    const known = cached.get(key);
    if (known !== undefined && Date.now() - known.at < MAX_AGE_MS) {
      caller.basis?.note(known.at);
      return known.value as Promise<T>;
    }
    if (cached.size >= MAX_CACHED) {
      cached.clear();
    }
    const at = Date.now();
    const value = load();
    cached.set(key, { at, value });
    caller.basis?.note(at);
    value.catch(() => cached.delete(key));
    return value;
  };
  const keyOf = (id: string, { authorization = "", hostname = "" }: Caller) =>
    JSON.stringify([id, hostname, authorization]);
  return {
    find: (id, caller, load) => keep(id, caller, load),
    list: (caller, load) => keep("", caller, load),
    forget: (id) => {
      for (const key of cached.keys()) {
        const [name] = JSON.parse(key) as readonly string[];
        if (name === id || name === "") {
          cached.delete(key);
        }
      }
    },
  };
}

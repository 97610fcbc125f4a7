import type { StacValidator } from "@swath/stac/schema";

import { onlyWhatIsNeeded } from "./lenient.ts";

interface Validators {
  readonly item: StacValidator;
  readonly collection: StacValidator;
}

export interface LazyValidators {
  /** Must have ended before anything is validated. */
  readonly prepareWriting: () => Promise<void>;
  readonly validateItem: StacValidator;
  readonly validateCollection: StacValidator;
}

/** Validators that are loaded before the first write: a catalogue that is only read does without their memory. */
export function createLazyValidators(isLenient: boolean): LazyValidators {
  let loaded: Validators | undefined;
  const require = (): Validators => {
    if (loaded === undefined) {
      throw new Error("prepareWriting must be awaited before anything is validated");
    }
    return loaded;
  };
  return {
    prepareWriting: async () => {
      if (loaded === undefined) {
        const { createCollectionValidator, createItemValidator } = await import("@swath/stac/schema");
        loaded ??= {
          item: isLenient ? onlyWhatIsNeeded : createItemValidator(),
          collection: createCollectionValidator(),
        };
      }
    },
    validateItem: (value) => require().item(value),
    validateCollection: (value) => require().collection(value),
  };
}

import { createContext } from "react";

/** A base map that the deployment or its data offer beside the map of the product. */
export interface BaseMapOption {
  readonly id: string;
  readonly title: string;
  /** `…/{z}/{x}/{y}.png`. */
  readonly url: string;
  readonly attribution?: string;
}

interface BaseMaps {
  /** Asked when the choice is opened. */
  readonly list: () => Promise<readonly BaseMapOption[]>;
}

/** What an app offers as base maps. */
export const BaseMapsContext = createContext<BaseMaps>({ list: () => Promise.resolve([]) });

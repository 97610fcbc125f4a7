import { createContext, use } from "react";

import type { FetchedPage } from "./fetch-page.ts";

/** What shows a part of the console, the page or a dialog over it, and takes what comes of its forms. */
export interface Surface {
  /** A form of this surface was answered. */
  readonly show: (page: FetchedPage) => void;
  /** Opens a page in a dialog. */
  readonly openDialog: (address: string) => void;
}

export const SurfaceContext = createContext<Surface | undefined>(undefined);

export function useSurface(): Surface {
  const surface = use(SurfaceContext);
  if (surface === undefined) {
    throw new Error("the content of a page is shown outside of one");
  }
  return surface;
}

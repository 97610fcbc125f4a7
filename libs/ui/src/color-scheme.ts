import { localStorageColorSchemeManager } from "@mantine/core";

/** Where the choice of light or dark is kept; `build/color-scheme-script.ts` reads it before the first paint. */
export const COLOR_SCHEME_KEY = "swath-color-scheme";

export function colorSchemeManager(key: string): ReturnType<typeof localStorageColorSchemeManager> {
  return localStorageColorSchemeManager({ key });
}

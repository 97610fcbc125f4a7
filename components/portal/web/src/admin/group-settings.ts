import type { Setting } from "../api/admin.ts";

interface Requested {
  /** Part of a name or value. */
  readonly requested: string;
  /** Only what the environment or an argument set. */
  readonly isGivenOnly: boolean;
}

/** The settings that are wanted, in their groups. */
export function groupSettings(
  settings: readonly Setting[],
  { requested, isGivenOnly }: Requested,
): readonly { readonly title: string; readonly settings: readonly Setting[] }[] {
  const needle = requested.trim().toLowerCase();
  const found = settings.filter(
    ({ name, value, origin }) =>
      (!isGivenOnly || /^(environment|argument|alias)/.test(origin)) &&
      (needle === "" || name.toLowerCase().includes(needle) || String(value).toLowerCase().includes(needle)),
  );
  return [...Map.groupBy(found, ({ group }) => group)].map(([title, members]) => ({ title, settings: members }));
}

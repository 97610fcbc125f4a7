/** `bytes 100-199/200`; undefined when it says something else. */
export function parseContentRange(
  text: string | undefined,
): { readonly start: number; readonly total?: number } | undefined {
  const match = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(text ?? "");
  if (match === null) {
    return undefined;
  }
  return { start: Number(match[1]), ...(match[2] !== "*" && { total: Number(match[2]) }) };
}

/** A member that is left out where there is no value. */
export const optional = <K extends string>(name: K, value: string | undefined): { readonly [N in K]?: string } =>
  value === undefined ? {} : ({ [name]: value } as { readonly [N in K]?: string });

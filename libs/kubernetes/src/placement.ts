/** A toleration of a pod's spec. */
export type Toleration = Readonly<Record<string, string>>;

/** `a=b,c=d` as labels. */
export function parseLabels(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(",").map((label) => {
      const at = label.indexOf("=");
      return [label.slice(0, at), label.slice(at + 1)];
    }),
  );
}

/** `KEY[=VALUE][:EFFECT]`; without an effect every effect is tolerated, without a value every value. */
export function parseToleration(text: string): Toleration {
  const [, key = "", value, effect] = /^([^=:]+)(?:=([^:]*))?(?::(.+))?$/.exec(text) ?? [];
  return {
    key,
    ...(value === undefined ? { operator: "Exists" } : { operator: "Equal", value }),
    ...(effect !== undefined && { effect }),
  };
}

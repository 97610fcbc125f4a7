/**
 * What a kubelet makes of a value: `$(NAME)` is the variable where there is one, `$$` is `$`, everything else is itself. Written after
 * the API's description of `EnvVar.value`, to check what is written against it without a cluster.
 */
export function expandReferences(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$(\$|\(([^)]*)\))/g, (found, kind: string, name: string | undefined) =>
    kind === "$" ? "$" : (variables[name ?? ""] ?? found),
  );
}

/** Values that a careless renderer changes. */
export const AWKWARD_VALUES: Readonly<Record<string, string>> = {
  REFERENCE: "$(HOME)",
  ESCAPED: "$$(HOME)",
  DOUBLED: "pa$$word",
  TRIPLED: "a$$$b",
  SINGLE: "$HOME costs 5$",
  OPEN: "$( and $$( and $)",
  NESTED: "$($(HOME))",
  LINES: "first\\n$(HOME)\nsecond $$\n",
  QUOTES: `it's "quoted" \\ and $(A) #`,
};

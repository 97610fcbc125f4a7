/** Who asks, as the store needs it: rights are part of every statement. */
export interface Reader {
  /** Operators read and write everything. */
  readonly isOperator: boolean;
  /** Workspaces that the caller is a member of, with what they may do there. */
  readonly workspaces: ReadonlyMap<string, WorkspaceRole>;
  /** Set on the host of a workspace: nothing else is there. */
  readonly only?: string;
}

export type WorkspaceRole = "owner" | "writer" | "reader";

export const OPERATOR: Reader = { isOperator: true, workspaces: new Map() };

/** The collection of records that belong to no other: of the platform, or of the workspace whose host this is. */
export const MAIN_COLLECTION = "metadata:main";

export const mainCollectionOf = ({ only }: Reader): string =>
  only === undefined ? MAIN_COLLECTION : `metadata:${only}`;

/** Whether a collection may be changed by the caller: operators, and owners and writers of its workspace. */
export function mayWrite(reader: Reader, { workspace }: { readonly workspace: string | null }): boolean {
  if (reader.isOperator) {
    return true;
  }
  const role = workspace === null ? undefined : reader.workspaces.get(workspace);
  return role === "owner" || role === "writer";
}

/**
 * The condition on the collection `c` that the caller may read it; `true` where nothing is left out.
 * @param add gives the placeholder of a value
 */
export function toReadCondition(reader: Reader, add: (value: unknown, type: string) => string): string {
  const { isOperator, workspaces, only } = reader;
  const here = only === undefined ? undefined : `c.workspace = ${add(only, "text")}`;
  const readable = isOperator
    ? undefined
    : workspaces.size === 0
      ? "c.is_public"
      : `(c.is_public or c.workspace = any(${add([...workspaces.keys()], "text[]")}))`;
  return [here, readable].filter((condition) => condition !== undefined).join(" and ") || "true";
}

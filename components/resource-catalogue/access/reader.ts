/** Who asks, as the store needs it: rights are part of every statement. */
export interface Reader {
  /** Operators read and write everything. */
  readonly isOperator: boolean;
  /** Set for a request without a login where none is needed: an operator's rights, but not on what a workspace keeps to its members. */
  readonly isAnonymous?: true;
  /** Set for services of the deployment, which come by the internal port with its secret. */
  readonly isService?: true;
  /** Workspaces that the caller is a member of, with what they may do there. */
  readonly workspaces: ReadonlyMap<string, WorkspaceRole>;
  /** Id of the user; left out for anybody, and for services. */
  readonly user?: string;
  /** Set on the host of a workspace: nothing else is there. */
  readonly only?: string;
}

export type WorkspaceRole = "owner" | "writer" | "reader";

export const OPERATOR: Reader = { isOperator: true, workspaces: new Map() };

/** The collection of records that belong to no other: of the platform, or of the workspace whose host this is. */
export const MAIN_COLLECTION = "metadata:main";

export const mainCollectionOf = ({ only }: Reader): string =>
  only === undefined ? MAIN_COLLECTION : `metadata:${only}`;

interface Owned {
  readonly workspace: string | null;
  /** Left out for one that is to be made. */
  readonly isPublic?: boolean;
}

/** Whether a collection may be changed by the caller: operators, and owners and writers of its workspace. */
export function mayWrite(reader: Reader, { workspace, isPublic }: Owned): boolean {
  if (reader.isOperator) {
    return reader.isAnonymous !== true || workspace === null || isPublic !== false;
  }
  const role = workspace === null ? undefined : reader.workspaces.get(workspace);
  return role === "owner" || role === "writer";
}

/** Whether there is anything that the caller may change. */
export const mayWriteSomewhere = ({ isOperator, workspaces }: Reader): boolean =>
  isOperator || [...workspaces.values()].some((role) => role !== "reader");

/** Whether the caller manages what concerns all collections, private ones among them. */
export const managesAll = ({ isOperator, isAnonymous }: Reader): boolean => isOperator && isAnonymous !== true;

/**
 * The condition on the collection `c` that the caller may read it; `true` where nothing is left out.
 * @param add gives the placeholder of a value
 */
export function toReadCondition(reader: Reader, add: (value: unknown, type: string) => string): string {
  const { isOperator, isAnonymous, workspaces, only } = reader;
  const here = only === undefined ? undefined : `c.workspace = ${add(only, "text")}`;
  const readable = isOperator
    ? isAnonymous === true
      ? "(c.is_public or c.workspace is null)"
      : undefined
    : workspaces.size === 0
      ? "c.is_public"
      : `(c.is_public or c.workspace = any(${add([...workspaces.keys()], "text[]")}))`;
  return [here, readable].filter((condition) => condition !== undefined).join(" and ") || "true";
}

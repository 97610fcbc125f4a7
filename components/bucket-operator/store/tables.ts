import type { ColumnType, Generated, JSONColumnType } from "kysely";

/** What was made of a bucket so far; ids and keys as the storage gave them. */
export interface BucketMade {
  readonly projectId?: string;
  readonly userId?: string;
  /** Of the cloud user; kept before the user is made. */
  readonly password?: string;
  readonly access?: string;
  readonly secret?: string;
}

export interface Tables {
  readonly bucket: {
    readonly name: string;
    readonly bucket_name: string;
    readonly secret_name: string | null;
    readonly secret_namespace: string | null;
    readonly with_keys: boolean;
    readonly removal: "retain" | "delete";
    readonly namespace: string | null;
    readonly phase: Generated<"active" | "deleting" | "kept">;
    readonly generation: Generated<string>;
    readonly observed_generation: Generated<string>;
    readonly state: JSONColumnType<BucketMade, string | undefined, string>;
    readonly ready: Generated<boolean>;
    readonly reason: Generated<string>;
    readonly message: Generated<string>;
    readonly changed_at: Generated<Date>;
    readonly attempts: Generated<number>;
    readonly created_at: Generated<Date>;
    readonly next_at: Generated<Date>;
    readonly lease_until: ColumnType<Date | null, Date | null | undefined, Date | null>;
  };
}

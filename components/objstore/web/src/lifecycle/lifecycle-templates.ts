interface LifecycleTemplate {
  readonly label: string;
  readonly rule: object;
}

/** Rules that people want most often. */
export const LIFECYCLE_TEMPLATES: readonly LifecycleTemplate[] = [
  {
    label: "Delete objects of a folder after 30 days",
    rule: { ID: "expire-folder", Status: "Enabled", Filter: { Prefix: "tmp/" }, Expiration: { Days: 30 } },
  },
  {
    label: "Keep old versions for 30 days",
    rule: {
      ID: "old-versions",
      Status: "Enabled",
      Filter: { Prefix: "" },
      NoncurrentVersionExpiration: { NoncurrentDays: 30 },
    },
  },
  {
    label: "Give up unfinished uploads after 7 days",
    rule: {
      ID: "unfinished-uploads",
      Status: "Enabled",
      Filter: { Prefix: "" },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
    },
  },
];

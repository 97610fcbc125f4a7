/** Policies that the console makes; the others are made by the admin API and shown. */
export const NEW_POLICY_TYPES = [
  { type: "user", label: "users" },
  { type: "role", label: "roles" },
  { type: "group", label: "groups" },
  { type: "authenticated", label: "everybody logged in" },
  { type: "aggregate", label: "others combined" },
] as const;

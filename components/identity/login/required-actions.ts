/** What a user may have to do before a login is complete. */
export const REQUIRED_ACTIONS = [
  { alias: "UPDATE_PASSWORD", name: "Choose a new password" },
  { alias: "CONFIGURE_TOTP", name: "Set up one-time codes" },
] as const;

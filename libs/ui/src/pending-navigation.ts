/** The page that is being opened, while it is: a path with its query. Kept by the app's router. */
export const pendingNavigation: { address: string | undefined } = { address: undefined };

/** The page of a document. Addresses hold no secret: tokens go in a field of the request. */
export const browsePath = (address: string): string => `/?href=${encodeURIComponent(address)}`;

/** The page that searches an API. */
export const searchPath = (root: string, collection?: string): string =>
  `/search?${new URLSearchParams({ api: root, ...(collection !== undefined && { collection }) })}`;

/** Text as PostgreSQL keeps it, which takes neither U+0000 nor halves of surrogate pairs; other control characters would disturb terminals. */
export const toText = (text: string, maxLength: number): string =>
  text
    .slice(0, maxLength)
    .toWellFormed()
    // eslint-disable-next-line no-control-regex -- these are what is replaced
    .replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F]/g, "\uFFFD");

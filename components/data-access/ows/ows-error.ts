/** An error of an OGC web service: its code is one of the standard's. */
export class OwsError extends Error {
  override readonly name = "OwsError";
  readonly code: string;
  readonly locator: string | undefined;
  readonly status: number;

  constructor(code: string, message: string, { locator, status = 400 }: { locator?: string; status?: number } = {}) {
    super(message);
    this.code = code;
    this.locator = locator;
    this.status = status;
  }
}

export const escapeXml = (text: string): string =>
  text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Where the parts of the platform are that the notebooks name. */
export interface NotebookHosts {
  /** With the port: `test.localhost:18080`. */
  readonly domain: string;
  readonly realm: string;
  /** A server of files in the place of those that the notebooks read from the internet. */
  readonly filesUrl: string;
}

/**
 * Everything that is changed in the notebooks, text by text: hosts and the realm. Hosts whose name ends in `-open` serve without a login,
 * as the platform does that the notebooks were written for.
 */
export function listReplacements({ domain, realm, filesUrl }: NotebookHosts): readonly (readonly [string, string])[] {
  const catalogue = `http://resource-catalogue-open.${domain}`;
  return [
    ["https://planetarycomputer.microsoft.com/api/stac/v1", `${catalogue}/stac`],
    ["https://raw.githubusercontent.com", filesUrl],
    ["https://eoepca.org", filesUrl],
    ["https://datacube-access.{platform_domain}", `${catalogue}/stac`],
    ["https://resource-catalogue.{platform_domain}", "http://resource-catalogue-open.{platform_domain}"],
    ["https://zoo.{platform_domain}", "http://ades.{platform_domain}"],
    ["://resource-catalogue.", "://resource-catalogue-open."],
    ["://registration-api.", "://registration-api-open."],
    ["://auth.", "://identity."],
    ["://eoapi.", "://data-access-open."],
    ["/realms/master/", `/realms/${realm}/`],
    ['token_url.replace("master", "eoepca")', `token_url.replace("master", "${realm}")`],
  ];
}

/** @param notebook text of an `.ipynb`, whose sources are JSON strings */
export function replaceHosts(notebook: string, replacements: readonly (readonly [string, string])[]): string {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  return replacements.reduce((text, [from, to]) => text.replaceAll(inJson(from), inJson(to)), notebook);
}

import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

interface Documented {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly responses?: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

/**
 * Compares answers with what an OpenAPI 3.1 document says of them: the status has to be one that the operation lists, the body has to
 * match its schema. Requests that the document does not know are left alone.
 * @throws {Error} with what differs
 */
export function createAnswerCheck(
  document: object,
): (method: string, path: string, status: number, body: unknown) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  const operations = Object.entries((document as Documented).paths ?? {})
    .map(([path, item]) => ({
      // `/workspaces/{name}` matches one segment where the braces are.
      pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
      // A path with fewer variables is meant first: `/clients` before `/{client}`.
      variables: path.split("{").length,
      path,
      item,
    }))
    .toSorted((a, b) => a.variables - b.variables);
  return (method, path, status, body) => {
    const [pathname = ""] = path.split("?", 1);
    const found = operations.find(({ pattern, item }) => pattern.test(pathname) && method.toLowerCase() in item);
    const operation = found?.item[method.toLowerCase()];
    if (found === undefined || operation === undefined) {
      return;
    }
    const name = `${method} ${found.path}`;
    const response = operation.responses?.[status];
    if (response === undefined) {
      throw new Error(`${name} answered ${status}, which its document does not list: ${JSON.stringify(body)}`);
    }
    const schema = response.content?.["application/json"]?.schema;
    if (schema !== undefined && !ajv.validate(schema, body)) {
      throw new Error(`${name} answered ${status} unlike its document: ${ajv.errorsText()}: ${JSON.stringify(body)}`);
    }
  };
}

import { request } from "node:http";
import { join } from "node:path";

const TIMEOUT_MS = 3000;
/** Characters that are read of an answer. */
const MOST = 16 * 1024 * 1024;

/**
 * What a pod's management listener answers. `directory` is where the pod's sockets lie.
 * @throws with the answer's text when its status is not 200, and with the socket's own error (ENOENT: it is not there yet)
 */
export function callManagement(directory: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const question = request(
      { socketPath: join(directory, "management.sock"), path, timeout: TIMEOUT_MS },
      (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          body += chunk;
          if (body.length > MOST) {
            question.destroy(new Error(`${path} does not end`));
          }
        });
        response.on("error", reject);
        response.on("end", () => {
          if (response.statusCode === 200) {
            resolve(body);
          } else {
            reject(new Error(body.slice(0, 500).trim() || `${path} answered ${response.statusCode}`));
          }
        });
      },
    );
    question.on("timeout", () => question.destroy(new Error(`${path} did not answer within ${TIMEOUT_MS / 1000} s`)));
    question.on("error", reject);
    question.end();
  });
}

import { html, PAGE_SECURITY, renderPage } from "@swath/pages";
import { Problem, toProblem } from "@swath/service";
import type { FastifyInstance } from "fastify";

/** Errors as pages for people, with the way on. */
export function addErrorPages(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error);
    if (problem.status >= 500) {
      request.log.error({ err: error }, "request failed");
    }
    void reply.code(problem.status).headers(problem.headers);
    if (!/text\/html/.test(request.headers.accept ?? "")) {
      return reply.type("application/problem+json").send(JSON.stringify(problem.body));
    }
    const command = problem.body["command"];
    return reply
      .headers(PAGE_SECURITY)
      .type("text/html; charset=utf-8")
      .send(
        renderPage({
          title: problem.body.title,
          style: "/hub/static/style.css",
          content: html`<h1>${problem.body.title}</h1>
            <p role="alert">${problem.message}</p>
            ${
              typeof command === "string" &&
              html`<p>An operator types:</p>
                <pre>${command}</pre>`
            }
            <p><a href="/hub/home">Your servers</a></p>`,
        }),
      );
  });
  app.get("/*", (request) => {
    throw new Problem(404, `There is no page at ${request.url.split("?", 1)[0]}.`);
  });
}

import type { Plan } from "../../../platform/plan.ts";

export interface CoveredDomain {
  readonly domain: string;
  /** The routes whose hosts are below it. */
  readonly routes: Plan["routes"];
  /** What the name of its certificate's file has after that of the issuer. */
  readonly file: string;
}

/** The domains that need certificates: that of the deployment, and that of user content where it is another with hosts. */
export function listDomains({ settings: { domain, variables }, routes }: Plan): readonly CoveredDomain[] {
  const contentDomain = variables.USER_CONTENT_DOMAIN;
  const isContent = (host: string) => contentDomain !== undefined && host.endsWith(`.${contentDomain}`);
  const content = routes.filter(({ host }) => isContent(host));
  return [
    { domain, routes: routes.filter(({ host }) => !isContent(host)), file: "" },
    ...(contentDomain !== undefined && content.length > 0
      ? [{ domain: contentDomain, routes: content, file: "-content" }]
      : []),
  ];
}

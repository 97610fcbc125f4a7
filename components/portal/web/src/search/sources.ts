import { type ItemPage, type StacItem, timeOf, titleOf } from "@swath/ui/stac";

import { itemPath } from "../../catalogue/model/stac.ts";
import { createProcessingClient } from "../../processing/api/processing-client.ts";
import { searchFiles } from "../api/files.ts";
import { requestService } from "../api/services.ts";
import { listWorkspaces } from "../api/workspaces.ts";
import type { PortalConfig } from "../session/portal.ts";
import type { User } from "../session/session.ts";
import { findDocs } from "./docs.ts";
import { type Hit, matches } from "./hit.ts";

export interface Source {
  readonly id: string;
  readonly title: string;
  readonly find: (text: string, signal: AbortSignal) => Promise<readonly Hit[]>;
  /** The page with everything that was found. */
  readonly all?: (text: string) => string;
}

/** Hits of each source, and workspaces whose files are looked through. */
const MAX_HITS = 5;
const MAX_WORKSPACES = 3;
const JOBS_READ = 200;

/** Where the search looks: what this deployment has and the user may use. */
export function createSources(user: User, { services, files }: PortalConfig): readonly Source[] {
  const client = createProcessingClient(user.username);
  const seg = encodeURIComponent;
  return [
    pagesSource(services, user),
    ...(services.includes("resource-catalogue") ? [scenesSource] : []),
    ...(services.includes("ades")
      ? [
          {
            id: "processes",
            title: "Processes",
            find: async (text: string) =>
              (await client.listProcesses())
                .filter(({ id, title = "", description = "" }) => matches(text, id, title, description))
                .map(({ id, title }) => ({ title: title ?? id, about: id, to: `/processing/processes/${seg(id)}` })),
          },
          {
            id: "jobs",
            title: "Jobs",
            all: () => "/processing/jobs",
            find: async (text: string) =>
              (await client.listJobs({ processes: [], statuses: [] }, { limit: JOBS_READ, skip: 0 })).jobs
                .filter(({ jobID, processID, status, message }) => matches(text, jobID, processID, status, message))
                .map(({ jobID, processID, status, created }) => ({
                  title: `${processID} ${jobID.slice(0, 8)}`,
                  about: `${status}, ${created.slice(0, 16).replace("T", " ")} UTC`,
                  to: `/processing/jobs/${jobID}`,
                })),
          },
        ]
      : []),
    ...(services.includes("workspace-api") && files ? [filesSource(user)] : []),
    { id: "docs", title: "Documentation", find: (text: string) => findDocs(text, services) },
  ].map((source) => ({
    ...source,
    find: async (text, signal) => (await source.find(text, signal)).slice(0, MAX_HITS),
  }));
}

const scenesSource: Source = {
  id: "scenes",
  title: "Scenes and results",
  all: (text) => `/catalogue?${new URLSearchParams({ q: text })}`,
  find: async (text, signal) => {
    const search = async (body: object): Promise<readonly StacItem[]> =>
      (await requestService<ItemPage>("resource-catalogue", "/stac/search", { method: "POST", body, signal })).features;
    // An id is found by itself, which the words of a text are not.
    const [byId, byText] = await Promise.all([
      search({ ids: [text], limit: MAX_HITS }),
      search({ q: text.split(/\s+/), limit: MAX_HITS }).catch(() => []),
    ]);
    const items = new Map([...byId, ...byText].map((item) => [itemPath(item), item]));
    return [...items].map(([to, item]) => ({
      title: titleOf(item),
      about: [item.collection, timeOf(item)?.slice(0, 10)].filter((part) => part !== undefined).join(", "),
      to,
    }));
  },
};

function filesSource(user: User): Source {
  return {
    id: "files",
    title: "Files",
    find: async (text) => {
      const mine = (await listWorkspaces())
        .filter(({ status }) => status === "ready")
        .toSorted((a, b) => Number(b.owner === user.username) - Number(a.owner === user.username))
        .slice(0, MAX_WORKSPACES);
      const found = await Promise.all(
        mine.map(async ({ name }) => (await searchFiles(name, "", text)).files.map(({ key }) => ({ name, key }))),
      );
      return found.flat().map(({ name, key }) => {
        const prefix = key.slice(0, key.lastIndexOf("/") + 1);
        const query = new URLSearchParams({ ...(prefix !== "" && { prefix }), file: key });
        return {
          title: key.slice(prefix.length),
          about: `${name}/${prefix}`,
          to: `/workspaces/${name}/files?${query}`,
        };
      });
    },
  };
}

function pagesSource(services: readonly string[], { isAdmin, mayCreateWorkspaces }: User): Source {
  const pages: readonly (readonly [title: string, to: string, needs?: string, words?: string])[] = [
    ["Home", "/"],
    ["Workspaces", "/workspaces", "workspace-api", "files storage"],
    ...(mayCreateWorkspaces ? ([["Create workspace", "/workspaces/new", "workspace-api", "new"]] as const) : []),
    ["Catalogue", "/catalogue", "resource-catalogue", "search scenes"],
    ["Collections", "/catalogue/collections", "resource-catalogue"],
    ["Explore", "/explore", "data-access", "map layers view"],
    ["Processes", "/processing/processes", "ades", "processing applications packages"],
    ["Deploy a process", "/processing/deploy", "ades", "new cwl package"],
    ["Jobs", "/processing/jobs", "ades", "processing runs"],
  ];
  const admin: readonly (readonly [title: string, to: string, needs?: string, words?: string])[] = [
    ["Administration: use", "/admin/use", undefined, "usage cost users"],
    ["Administration: pods", "/admin/pods", undefined, "logs health"],
    ["Administration: registration", "/admin/registration", "registration-api", "harvest"],
    ["Administration: audit trail", "/admin/audit", undefined, "events logins deletions who"],
    ["Administration: configuration", "/admin/configuration"],
  ];
  return {
    id: "pages",
    title: "Pages",
    find: async (text) =>
      [...pages, ...(isAdmin ? admin : [])]
        .filter(
          ([title, , needs, words = ""]) =>
            (needs === undefined || services.includes(needs)) && matches(text, title, words),
        )
        .map(([title, to]) => ({ title, about: "", to })),
  };
}

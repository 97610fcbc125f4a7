import { Shell, loadPage, startApp } from "@swath/ui";
import { FolderTree, Search } from "lucide-react";

const LINKS = [
  { to: "/", label: "Browse", icon: FolderTree, exact: true },
  { to: "/search", label: "Search", icon: Search },
];

startApp({
  routes: [
    {
      element: <Shell title="STAC browser" links={LINKS} />,
      children: [
        { path: "/search", lazy: () => loadPage(() => import("./search-page.tsx")) },
        { path: "*", lazy: () => loadPage(() => import("./browse-page.tsx")) },
      ],
    },
  ],
});

import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./base.css";

import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { type RouteObject, RouterProvider, createBrowserRouter } from "react-router";

import { ConfirmProvider } from "./confirm.tsx";
import { RouteError } from "./route-error.tsx";
import { RequestError } from "./problem.ts";
import { COLOR_SCHEME_KEY, colorSchemeManager } from "./color-scheme.ts";
import { pendingNavigation } from "./pending-navigation.ts";
import { Loading } from "./states.tsx";
import { cssVariables, theme } from "./theme.ts";

interface AppOptions {
  readonly routes: readonly RouteObject[];
  /** Called when an answer says that nobody is logged in (401): show the sign-in page, or go to it. */
  readonly onSignedOut?: (client: QueryClient) => void;
}

/** Shows an app in `<div id="root">`: theme, notifications, dialogs, data from services, pages by address. */
export function startApp({ routes, onSignedOut }: AppOptions): void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
  // Locking the page behind a dialog writes a style element.
  setNonce(nonce);
  const client = createQueryClient(onSignedOut);
  const router = createBrowserRouter([
    { errorElement: <RouteError />, hydrateFallbackElement: <Loading />, children: [...routes] },
  ]);
  router.subscribe(({ navigation: { location } }) => {
    pendingNavigation.address =
      location === undefined ? undefined : `${location.pathname}${location.search}${location.hash}`;
  });
  const root = document.querySelector("#root");
  if (root === null) {
    throw new Error('index.html has no <div id="root">');
  }
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        defaultColorScheme="auto"
        colorSchemeManager={colorSchemeManager(COLOR_SCHEME_KEY)}
        getStyleNonce={() => nonce}
      >
        <Notifications position="top-right" />
        <QueryClientProvider client={client}>
          <ConfirmProvider>
            <RouterProvider router={router} />
          </ConfirmProvider>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}

/** Milliseconds after which a query is repeated that failed because a service was away. */
const RECOVERY_INTERVAL_MS = 5000;

/** No answer, or one that says that the service is away: it may be back by itself. */
const isTransient = (error: unknown): boolean =>
  error instanceof RequestError && (error.status === 0 || (error.status >= 502 && error.status <= 504));

/** Answers that asking again would not change; who waited long (504) has waited enough. */
const isFinal = (status: number): boolean => (status >= 400 && status < 500) || status === 504;

function createQueryClient(onSignedOut: AppOptions["onSignedOut"]): QueryClient {
  const client: QueryClient = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5000,
        // What a service refuses it will refuse again; what did not answer may be starting.
        retry: (count, error) => count < 2 && !(error instanceof RequestError && isFinal(error.status)),
        retryDelay: (count) => 700 * 2 ** count,
        networkMode: "always",
        refetchOnReconnect: "always",
        // What failed with a service comes back with it.
        refetchInterval: ({ state: { error } }) => (isTransient(error) ? RECOVERY_INTERVAL_MS : false),
      },
      mutations: { networkMode: "always" },
    },
  });
  const notice = (error: unknown) => {
    if (error instanceof RequestError && error.status === 401) {
      onSignedOut?.(client);
    }
  };
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type === "updated" && query.state.status === "error") {
      notice(query.state.error);
    }
  });
  client.getMutationCache().subscribe(({ type, mutation }) => {
    if (type === "updated" && mutation?.state.status === "error") {
      notice(mutation.state.error);
    }
  });
  return client;
}

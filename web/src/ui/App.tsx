// The providers and the routes. Each page comes as a file of its own when it is first opened.
import { I18nProvider } from "@cloudscape-design/components/i18n";
import messages from "@cloudscape-design/components/i18n/messages/all.en";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider, createBrowserRouter } from "react-router";
import { ApiError } from "../api/problem";
import { Loading } from "../parts/Loading";
import { patterns } from "../paths";
import { StreamProvider } from "../stream/StreamProvider";
import { Broken } from "./Broken";
import { FlashProvider } from "./flash";
import { NotFound } from "./NotFound";
import { SessionGate } from "./session";
import { Shell } from "./Shell";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) && count < 2,
    },
    mutations: { retry: false },
  },
});

const router = createBrowserRouter([
  {
    element: <Shell />,
    errorElement: <Broken />,
    hydrateFallbackElement: <Loading what="the page" />,
    children: [
      { path: patterns.clusters, lazy: () => import("../clusters/List") },
      { path: patterns.create, lazy: () => import("../clusters/Create") },
      { path: patterns.overview, lazy: () => import("../clusters/Overview") },
      { path: patterns.clusterOperations, lazy: () => import("../operations/List") },
      { path: patterns.operations, lazy: () => import("../operations/List") },
      { path: patterns.operation, lazy: () => import("../operations/Detail") },
      { path: "*", element: <NotFound /> },
    ],
  },
]);

export function App({ code }: { code: string | null }) {
  return (
    <I18nProvider locale="en" messages={[messages]}>
      <QueryClientProvider client={client}>
        <SessionGate code={code}>
          <StreamProvider>
            <FlashProvider>
              <RouterProvider router={router} />
            </FlashProvider>
          </StreamProvider>
        </SessionGate>
      </QueryClientProvider>
    </I18nProvider>
  );
}

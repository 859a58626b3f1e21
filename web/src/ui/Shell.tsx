// What stands around every page: skip link, top bar, banner, side navigation, messages.
import AppLayout from "@cloudscape-design/components/app-layout";
import BreadcrumbGroup from "@cloudscape-design/components/breadcrumb-group";
import { useEffect, useState } from "react";
import { Outlet, useLocation, useMatch } from "react-router";
import { useFollow } from "../parts/follow";
import { Banner } from "./Banner";
import { paths } from "../paths";
import { crumbs } from "./crumbs";
import { Flashes } from "./flash";
import { Help } from "./Help";
import { Navigation } from "./Navigation";
import { OfflineBar } from "./OfflineBar";
import { Palette } from "./Palette";
import { useShortcuts } from "./shortcuts";
import { TopBar } from "./TopBar";

const NARROW = "(max-width: 688px)";

/** The cluster in the URL, if there is one. */
export function useClusterInUrl(): string | null {
  const inside = useMatch("/c/:cluster/*");
  return inside?.params.cluster ?? null;
}

export function Shell() {
  const { pathname } = useLocation();
  const cluster = useClusterInUrl();
  const follow = useFollow();
  const [open, setOpen] = useState(() => !window.matchMedia(NARROW).matches);
  const [help, setHelp] = useState(false);
  const [palette, setPalette] = useState(false);
  useShortcuts({ onHelp: () => setHelp(true), onPalette: () => setPalette(true), cluster });
  const wizard = pathname === paths.create();
  useEffect(() => setOpen(!wizard && !window.matchMedia(NARROW).matches), [wizard]);
  useEffect(() => {
    if (window.matchMedia(NARROW).matches) setOpen(false);
  }, [pathname]);
  return (
    <>
      <a className="skip" href="#content" onClick={skip}>
        Skip to the content
      </a>
      <div id="top">
        <TopBar cluster={cluster} onHelp={() => setHelp(true)} onPalette={() => setPalette(true)} />
        <Banner />
        <OfflineBar />
      </div>
      <AppLayout
        headerSelector="#top"
        navigation={<Navigation cluster={cluster} />}
        navigationOpen={open}
        onNavigationChange={({ detail }) => setOpen(detail.open)}
        breadcrumbs={<BreadcrumbGroup items={crumbs(pathname)} ariaLabel="Where you are" onFollow={follow} />}
        notifications={<Flashes />}
        stickyNotifications
        toolsHide
        maxContentWidth={1600}
        ariaLabels={{ navigation: "Pages", navigationToggle: "Open the pages", navigationClose: "Close the pages" }}
        content={
          <div id="content" tabIndex={-1}>
            <Outlet />
          </div>
        }
      />
      <Help visible={help} onClose={() => setHelp(false)} />
      {palette && <Palette cluster={cluster} onClose={() => setPalette(false)} />}
    </>
  );
}

function skip(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

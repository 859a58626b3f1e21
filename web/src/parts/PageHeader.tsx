// The heading of a page: its title in the tab, and the focus when one comes from another page.
import Header from "@cloudscape-design/components/header";
import { type ReactNode, useEffect, useRef } from "react";
import { useLocation } from "react-router";

interface Props {
  title: string;
  counter?: string;
  description?: ReactNode;
  actions?: ReactNode;
}

let shownPath: string | null = null;

export function PageHeader({ title, counter, description, actions }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { pathname } = useLocation();
  useEffect(() => {
    document.title = `${title} · InstantStart`;
  }, [title]);
  useEffect(() => {
    if (shownPath !== null && shownPath !== pathname) {
      const heading = box.current?.querySelector("h1");
      heading?.setAttribute("tabindex", "-1");
      heading?.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
    shownPath = pathname;
  }, [pathname]);
  return (
    <div ref={box} className="page-header">
      <Header variant="h1" counter={counter} description={description} actions={actions}>
        {title}
      </Header>
    </div>
  );
}

// Links that stay in the page: a plain click is the router's, everything else the browser's.
import Button, { type ButtonProps } from "@cloudscape-design/components/button";
import Link, { type LinkProps } from "@cloudscape-design/components/link";
import { useNavigate } from "react-router";

interface FollowEvent {
  preventDefault: () => void;
  detail: { href?: string; external?: boolean };
}

/** Handler for `onFollow` of Cloudscape's components. */
export function useFollow(): (event: FollowEvent) => void {
  const navigate = useNavigate();
  return (event) => {
    const { href, external } = event.detail;
    if (!href || external || !href.startsWith("/") || href.startsWith("/api/")) return;
    event.preventDefault();
    void navigate(href);
  };
}

export function PageLink(props: LinkProps & { href: string }) {
  return <Link onFollow={useFollow()} {...props} />;
}

export function PageButton(props: ButtonProps & { href: string }) {
  return <Button onFollow={useFollow()} {...props} />;
}

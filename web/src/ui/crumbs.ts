// The way from the start to a page, out of its URL. Pure.
import { paths } from "../paths";

export function crumbs(pathname: string): { text: string; href: string }[] {
  const [first, second, third] = pathname.split("/").filter(Boolean).map(decodeURIComponent);
  const home = { text: "Clusters", href: paths.clusters() };
  if (first === "c" && second) {
    const inside = [home, { text: second, href: paths.overview(second) }];
    return third ? [...inside, { text: "Operations", href: paths.clusterOperations(second) }] : inside;
  }
  if (first === "create") return [home, { text: "Create a cluster", href: paths.create() }];
  if (first === "operations") {
    const list = { text: "Operations", href: paths.operations() };
    return second ? [list, { text: second, href: paths.operation(second) }] : [home, list];
  }
  return [home];
}

import { defineConfig } from "@rspress/core";
import { addressOf, type Product, products } from "./navigation.ts";
import { entriesOf } from "./reference.ts";
import { titleOf } from "./titles.ts";

const link = (page: string) => ({ text: titleOf(page), link: addressOf(page) });

const entries = ({ reference }: Product) => (reference === undefined ? [] : entriesOf(reference));

function sidebarOf(product: Product) {
  const { landing, name, sections } = product;
  // The menu is too narrow for the scope as well.
  const reference = entries(product).map((entry) => ({
    text: entry.name.replace("@tollway/", ""),
    link: addressOf(entry.page),
  }));
  return [
    { text: name, link: addressOf(landing) },
    ...sections.map(({ title, pages }) => ({ text: title, items: pages.map(link) })),
    ...(reference.length > 0 ? [{ text: "API reference", items: reference }] : []),
  ];
}

/** Pages of different products share the folder `docs/`, so each page names its menu. */
const sidebar = Object.fromEntries(
  products.flatMap((product) => {
    const menu = sidebarOf(product);
    const pages = [
      product.landing,
      ...product.sections.flatMap((section) => section.pages),
      ...entries(product).map(({ page }) => page),
    ];
    return pages.map((page) => [addressOf(page), menu]);
  }),
);

export default defineConfig({
  root: "content",
  outDir: "dist",
  title: "Tollway",
  description: "Tollgate, a rate limit service; Waymark, a REST framework; grpc-wire, gRPC for Node",
  globalStyles: `${import.meta.dirname}/theme.css`,
  // The search index is part of the site: the search sends no request to anywhere else.
  search: { versioned: false },
  markdown: { link: { checkDeadLinks: true } },
  themeConfig: {
    nav: products.map(({ name, landing }) => ({ text: name, link: addressOf(landing) })),
    sidebar,
    socialLinks: [{ icon: "github", mode: "link", content: "https://github.com/tollway/tollway" }],
    lastUpdated: false,
    enableContentAnimation: false,
  },
});

/**
 * The pages of the site, in the order of their menus. The four kinds of pages are those of Diátaxis: a tutorial teaches, a
 * how-to guide solves one task, a reference states facts, an explanation gives reasons.
 */

export interface Section {
  readonly title: string;
  /** Paths of pages below `docs/`. */
  readonly pages: readonly string[];
}

export interface Product {
  readonly name: string;
  /** The landing page, below `docs/`. */
  readonly landing: string;
  /** The package whose entry points have a generated reference, below `packages/`. */
  readonly reference?: string;
  readonly sections: readonly Section[];
}

export const products: readonly Product[] = [
  {
    name: "Tollgate",
    landing: "tollgate.md",
    reference: "tollgate",
    sections: [
      { title: "Tutorial", pages: ["getting-started.md", "install.md"] },
      {
        title: "How-to guides",
        pages: [
          "envoy.md",
          "envoy-gateway.md",
          "istio.md",
          "nginx.md",
          "kubernetes.md",
          "switching.md",
          "redis.md",
          "llm-gateway.md",
          "token-budgets.md",
          "grafana.md",
          "testing-limits.md",
          "diff-and-replay.md",
          "operating-counters.md",
          "limits.md",
          "production-checklist.md",
          "hardening.md",
          "troubleshooting.md",
        ],
      },
      {
        title: "Reference",
        pages: [
          "rules.md",
          "settings.md",
          "configuration-sources.md",
          "stores.md",
          "dashboard.md",
          "observability.md",
          "top-keys.md",
          "decision-log.md",
          "http-api.md",
          "admin-api.md",
          "errors.md",
        ],
      },
      { title: "Explanation", pages: ["how-it-works.md", "comparison.md", "performance.md"] },
    ],
  },
  {
    name: "Waymark",
    landing: "waymark/README.md",
    reference: "waymark",
    sections: [
      { title: "Tutorial", pages: ["waymark/tutorial.md", "waymark/javascript.md"] },
      {
        title: "How-to guides",
        pages: [
          "waymark/uploads.md",
          "waymark/bodies.md",
          "waymark/pagination.md",
          "waymark/database.md",
          "waymark/versions.md",
          "waymark/client.md",
          "waymark/hooks.md",
          "waymark/kit.md",
          "waymark/authentication.md",
          "waymark/sessions.md",
          "waymark/files.md",
          "waymark/caching.md",
          "waymark/serving.md",
          "waymark/own-server.md",
          "waymark/deployment.md",
          "waymark/testing.md",
          "waymark/migrating.md",
        ],
      },
      {
        title: "Reference",
        pages: [
          "waymark/routing.md",
          "waymark/arguments.md",
          "waymark/types.md",
          "waymark/answers.md",
          "waymark/errors.md",
          "waymark/application.md",
          "waymark/openapi.md",
          "waymark/manifest.md",
        ],
      },
      { title: "Explanation", pages: ["waymark/comparison.md", "waymark/performance.md"] },
    ],
  },
  {
    name: "grpc-wire",
    landing: "grpc-wire.md",
    reference: "grpc-wire",
    sections: [],
  },
  {
    name: "How it works",
    landing: "architecture.md",
    sections: [
      {
        title: "Decisions: Tollgate",
        pages: [
          "decisions/hot-path.md",
          "decisions/rules.md",
          "decisions/reload.md",
          "decisions/threads.md",
          "decisions/embedded-store.md",
          "decisions/remote-stores.md",
          "decisions/overrides.md",
          "decisions/observability.md",
        ],
      },
      {
        title: "Decisions: Waymark",
        pages: [
          "decisions/waymark-core.md",
          "decisions/waymark-signatures.md",
          "decisions/python-servers.md",
          "decisions/websockets.md",
        ],
      },
    ],
  },
];

/** The home page, below `docs/`. It is in no menu. */
export const HOME = "index.md";

/** All pages, each once. */
export function allPages(): string[] {
  return [
    HOME,
    ...products.flatMap(({ landing, sections }) => [landing, ...sections.flatMap(({ pages }) => pages)]),
  ];
}

/** The address of a page: `waymark/README.md` is `/waymark/`, `rules.md` is `/rules`. */
export function addressOf(page: string): string {
  return `/${page.replace(/(^|\/)(README|index)\.md$/, "$1").replace(/\.md$/, "")}`;
}

import { api, attempt } from "./api.ts";
import { Detail } from "./detail.ts";
import { byId, valuesOf } from "./dom.ts";
import { List } from "./list.ts";
import { follow, type Live } from "./live.ts";
import { showSession } from "./session.ts";

const list = new List();
const detail = new Detail();
const create = byId("create", HTMLFormElement);
const live = byId("live", HTMLElement);

/** The address says which issue is shown, so that the browser's history works. */
function showAddressed(): Promise<void> {
  const id = Number(location.hash.slice(1)) || undefined;
  list.mark(id);
  return attempt(() => detail.open(id));
}

async function show(change: Live): Promise<void> {
  if (change.kind === "comment") return detail.commented(change.on, change.comment);
  if (change.kind === "attachment") return detail.attached(change.on, change.attachment);
  await list.load();
  if (change.kind === "issue") return detail.changed(change.issue, change.by);
  return showAddressed();
}

create.addEventListener("submit", (event) => {
  event.preventDefault();
  void attempt(async () => {
    const { id } = await api.issues.POST(valuesOf(create) as { title: string });
    create.reset();
    location.hash = String(id);
  });
});
window.addEventListener("hashchange", () => showAddressed());

await attempt(() =>
  showSession((user) => {
    create.hidden = user === undefined;
    void attempt(() => detail.setUser(user));
  }),
);
await showAddressed();
void follow(
  (change) => attempt(() => show(change)),
  (isLive) => {
    live.textContent = isLive ? "live" : "connecting";
    // Earlier changes are not among the events of a connection.
    if (isLive) void attempt(() => list.load());
  },
);

// The part of the address after #: /RUN/PAGE?key=value. Every view has an address of its own, so that it can be shared.

export function parse(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const [run = "", page = "overview"] = path.split("/").map(decodeURIComponent);
  return { run, page, query: Object.fromEntries(new URLSearchParams(query)) };
}

export function link(run, page = "overview", query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const search = new URLSearchParams(kept).toString();
  return `#/${encodeURIComponent(run)}/${page}${search ? `?${search}` : ""}`;
}

export function go(run, page, query) {
  window.location.hash = link(run, page, query);
}

// Where in the dashboard one is: `#/screen?name=value`, so that every view has an address and Back works.

export function here() {
  const [, path, query = ""] = /^#?\/?([^?]*)\??(.*)$/s.exec(location.hash);
  return { screen: path || "search", given: Object.fromEntries(new URLSearchParams(query)) };
}

/** Go to a screen; what is null or "" is left out. `quietly` leaves no entry in the history. */
export function go(screen, given = {}, quietly = false) {
  const kept = Object.entries(given).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const address = `#/${screen}${kept.length ? `?${new URLSearchParams(kept)}` : ""}`;
  if (address === location.hash) return;
  if (quietly) {
    history.replaceState(null, "", address);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = address;
}

export function onRoute(listener) {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

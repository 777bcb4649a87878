/** Stops what global-setup.mjs started. A database that a test file left open makes the run fail, by name. */
export default async function globalTeardown() {
  const servers = globalThis.sverkaTestServers;
  if (servers === undefined) return;
  try {
    const open = await servers.leftOpen();
    if (open.length > 0) {
      throw new Error(`These databases were opened by a test and never closed: ${open.join(', ')}. Call close().`);
    }
  } finally {
    await servers.stop();
  }
}

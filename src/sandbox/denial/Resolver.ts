/** Tells where names of hosts are looked up. */
import * as Fs from "node:fs"

const server = /^[ \t]*nameserver[ \t]+(\S+)/gm
const loopback = /^(?:127\.|::1$)/

/**
 * Tests whether the configuration of the system's resolver names no server beyond this machine. A look-up in a sandbox
 * then ends on the sandbox's own loopback, where nothing is counted.
 */
export const isLocal = (file = "/etc/resolv.conf"): boolean => {
  try {
    return [...Fs.readFileSync(file, "utf8").matchAll(server)].every(([, address = ""]) => loopback.test(address))
  } catch {
    return true
  }
}

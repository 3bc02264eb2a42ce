/** Finds the server of the machine that a command looked for at the sandbox's own localhost. */
import * as Listeners from "../platform/Listeners.js"

const refused = /connection refused|ECONNREFUSED|ConnectionRefused|couldn't connect|could not connect/i
const place = /(?:\blocalhost|\b127\.0\.0\.1|::1)\]?["',:\s]{1,4}(?:port )?(\d{2,5})\b/g
const most = 5
const mostExamined = 64 * 1024

/** Returns the ports that something on this machine listens at. */
const ports = (): ReadonlySet<number> => new Set(Listeners.read("self").map(({ port }) => port))

/** Returns the port of such a server, which a refusal and the words around it, or of the command, name. */
export const find = (
  command: string,
  stderr: string,
  listed: () => ReadonlySet<number> = ports
): number | undefined => {
  const said = stderr.slice(-mostExamined)
  if (!refused.test(said)) return undefined
  const named = [said, command.slice(0, mostExamined)].flatMap((text) =>
    Array.from(text.matchAll(place), ([, port]) => Number(port))
  )
  if (named.length === 0) return undefined
  const there = listed()
  return named.slice(0, most).find((port) => there.has(port))
}

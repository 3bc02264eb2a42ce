/** Recognises the wordings in which programs report the kernel's refusals, in the C locale. */

import type { Steps } from "../../../domain/Slices.js"

/**
 * The kind of a kernel's refusal. `access`: EACCES and EPERM. `readonly`: EROFS. `busy`: EBUSY, for what something is
 * mounted on. `link`: EXDEV, from one mount to another. `unopened`: a database that could be neither opened nor made.
 */
export type KernelRefusal = "access" | "readonly" | "busy" | "link" | "unopened"

/**
 * The most characters of a message, before the words of a refusal and after them, that are read: some expressions take
 * time proportional to the square of it.
 */
export const longestMessage = 1024

const wordings: ReadonlyArray<readonly [KernelRefusal, RegExp]> = [
  [
    "access",
    /permission denied|operation not permitted|\bEACCES\b|\bEPERM\b|PermissionDenied|AccessDenied|access denied/i
  ],
  ["readonly", /read-?only file ?system|\bEROFS\b|readonly database|unable to create temporary object directory/i],
  ["busy", /(?:device or )?resource busy|\bEBUSY\b/i],
  ["link", /(?:invalid )?cross-device link|\bEXDEV\b/i],
  ["unopened", /unable to open database(?: file)?/i]
]

const any = new RegExp(wordings.map(([, { source }]) => source).join("|"), "i")

/** Tests whether a text reports a refusal anywhere. */
export const mentionsRefusal = (text: string): boolean => any.test(text)

/** A refusal that a line reports, and the text on both sides of it. */
export interface Refused {
  readonly refusal: KernelRefusal
  readonly before: string
  readonly after: string
}

/** Finds the refusal that a line reports. */
export const refusalIn = (line: string): Refused | undefined => {
  for (const [refusal, pattern] of wordings) {
    const match = pattern.exec(line)
    if (match !== null) {
      return { refusal, before: line.slice(0, match.index), after: line.slice(match.index + match[0].length) }
    }
  }
  return undefined
}

const writing =
  /creat|remov|mov|renam|writ|touch|mkdir|chang|delet|append|set|link|unlink|truncat|replac|updat|sav|copyfile|overwrit/i

/** Matches the messages of the agent's own commands, whose name tells what they do. */
const speaker = /^(?:(read)|write|edit): /

/** Tests whether a line says that a change was refused, not a read. `before` is the text before the refusal. */
export const isWrite = (refusal: KernelRefusal, before: string): boolean => {
  if (refusal === "unopened") return false
  if (refusal !== "access") return true
  const own = speaker.exec(before)
  if (own !== null) return own[1] === undefined
  const near = before.slice(-longestMessage)
  return writing.test(near.replace(/'[^']*'|"[^"]*"|\S*\/\S*/g, "")) && !/for reading/.test(near)
}

/** Tests whether a message is of the agent's own commands, which refuse by the rules what nothing hides. */
export const isAgents = (before: string): boolean => speaker.test(before)

/** Matches the messages of programs that open a file to write it, and make it where it is missing. */
const opening = /^(?:(?:bash|write|tee): |touch: cannot touch |cp: cannot create regular file |dd: failed to open )/

/** Tests whether a line says that a regular file could not be made or written where it lies. */
export const isOpening = (before: string): boolean => opening.test(before)

const network =
  /network is unreachable|ENETUNREACH|could(?: not|n't) resolve|name resolution|failure resolving|EAI_AGAIN|\bENOTFOUND\b|name or service not known|unable to look up|unable to resolve|failed to connect|couldn't connect|unable to connect|getaddrinfo|no such host|failed to (?:fetch|download)|unable to access|connection failed/i
/** Matches the system's own words for it, which need name no host. */
const unreachable =
  /network is unreachable|ENETUNREACH|temporary failure (?:in name resolution|resolving)|EAI_AGAIN|name or service not known/i

/** Tests whether a text says that there is no network, and not only of this machine's own names. */
export const saysUnreachable = (text: string): boolean =>
  text.split("\n").some((line) => unreachable.test(line) && !/localhost|\b127\.|::1\b/i.test(line))

const unresolved =
  /could(?: not|n't) resolve|name resolution|failure resolving|EAI_AGAIN|\bENOTFOUND\b|name or service not known|unable to (?:look up|resolve)|no such host/i

/** Tests whether a text says that a name could not be looked up, and not one of this machine's own. */
export const saysUnresolved = (text: string): boolean =>
  text.split("\n").some((line) => unresolved.test(line) && !/localhost|\b127\.|::1\b/i.test(line))

const mostHosts = 5
/** Match the ways in which hosts are named, the surest first. */
const hosts: ReadonlyArray<RegExp> = [
  /\b[a-z][a-z\d+.-]{0,30}:\/\/(?:[^\s/@'"]+@)?(\[[\da-f:.]+\]|[^\s/:'"]+)/i,
  /(?:resolv(?:e|ing) (?:host(?:name)?:? )?(?:address )?|look up |ENOTFOUND |EAI_AGAIN |lookup |address for )['"‘“`]?([\w-]+(?:\.[\w-]+)+|\blocalhost\b)/i,
  /(?:^|: )([\w-]+(?:\.[\w-]+)+): (?=temporary failure in name|name or service not known)/i,
  /(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?![\w.]*\.\d)/,
  /(?<![\w:])((?:[\da-f]{1,4}:){2,7}:?[\da-f]*(?::[\da-f]+)*)/i,
  /(?:resolve (?:host(?:name)?:? |(?!host(?:name)?\b))|\bhost(?:name)?:? |connect to )['"‘“`]?([\w-]+(?:\.[\w-]+)*)/i
]
const own = /^(?:localhost|127\..*|\[?::1\]?|0\.0\.0\.0)$/i

/** Tests whether a host is this machine. */
export const isLocal = (host: string): boolean => own.test(host)

/** Finds the hosts that a text says could not be reached, with rests. */
export function* hostsIn(text: string): Steps<ReadonlyArray<string>> {
  const found = new Set<string>()
  for (const line of text.split("\n")) {
    const match = network.exec(line)
    if (match === null) continue
    const near = line.slice(Math.max(0, match.index - longestMessage), match.index + longestMessage)
    const host = hosts.map((pattern) => pattern.exec(near)?.[1]).find((name) => name !== undefined)
    if (host !== undefined && !own.test(host)) found.add(host)
    if (found.size === mostHosts) break
    yield
  }
  return [...found]
}

/**
 * Finds refused attempts to reach a network: messages tell of them, and the kernel's counters confirm it.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../../bash/CommandLine.js"
import type { Steps } from "../../domain/Slices.js"
import type { Traffic } from "../platform/NetworkMeter.js"
import * as Denial from "./Denial.js"
import { isQuoted } from "./Quotation.js"
import { hostsIn, isLocal, saysUnreachable, saysUnresolved } from "./Wording.js"

/**
 * The messages of a command, and its traffic.
 *
 * @since 0.1.0
 * @category models
 */
export interface Attempt {
  readonly command: string
  readonly stderr: string
  readonly traffic: Traffic | undefined
  /** Tells that names are looked up by a server on this machine's loopback: such a look-up is not counted. */
  readonly resolvesLocally: () => boolean
  /** True where the command's output is the report of a test run. */
  readonly inReport: boolean
}

/**
 * Finds the hosts that a command was refused to reach. `counter` stands for what the kernel has counted, and neither a
 * message nor the command itself confirms.
 *
 * @since 0.1.0
 * @category attribution
 */
export function* find(attempt: Attempt): Steps<ReadonlyArray<Denial.Denial>> {
  const { command, inReport, resolvesLocally, traffic } = attempt
  const { perhaps = 0, surely = 0 } = traffic ?? {}
  const isCounted = surely + perhaps > 0
  const silent = attempt.stderr.trim() === "" ? silentHost(command) : undefined
  if (!isCounted && silent === undefined && !saysUnresolved(attempt.stderr)) return []
  const stderr = attempt.stderr
    .split("\n")
    .filter((line) => !isQuoted(command, line, { before: line }, inReport))
    .join("\n")
  if (!isCounted && !((silent !== undefined || saysUnresolved(stderr)) && resolvesLocally())) return []
  if (silent !== undefined) return [Denial.network("verified-text", silent)]
  const hosts = yield* hostsIn(stderr)
  if (hosts.length > 0) return hosts.map((host) => Denial.network("verified-text", host))
  // Packets that another command may have sent count only where a host is named.
  if (surely === 0 && isCounted) return []
  return [Denial.network(!isCounted || saysUnreachable(stderr) ? "verified-text" : "counter")]
}

/** Programs that reach the address they are given, and may be told to say nothing of it. */
const reaching = new Set(["curl", "wget"])
const address = /^[a-z][a-z\d+.-]*:\/\/(?:[^\s/@]*@)?(\[[\da-f:.]+\]|[^\s/:?#]+)/i

/** Returns the host that a command which said nothing was to reach, where its words name it. */
const silentHost = (command: string): string | undefined => {
  const words = CommandLine.parse(command).tokens.flatMap((token) => (token._tag === "Word" ? [token.value] : []))
  if (!words.some((word) => reaching.has(word.slice(word.lastIndexOf("/") + 1)))) return undefined
  return words.map((word) => address.exec(word)?.[1]).find((host) => host !== undefined && !isLocal(host))
}

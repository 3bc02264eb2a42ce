/**
 * Finds refused attempts to reach a network: messages tell of them, and the kernel's counters confirm it.
 *
 * @since 0.1.0
 */
import type { Steps } from "../../domain/Slices.js"
import type { Traffic } from "../platform/NetworkMeter.js"
import * as Denial from "./Denial.js"
import * as Fetching from "./Fetching.js"
import { isQuoted } from "./Quotation.js"
import { hostsIn, saysUnreachable, saysUnresolved } from "./Wording.js"

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
  const silent = attempt.stderr.trim() === "" ? Fetching.hostIn(command) : undefined
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

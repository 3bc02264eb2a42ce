/** Tells a model once what it would not expect of the sandbox. */
import { longestLook } from "../denial/WithheldVariables.js"
import type { SandboxNetwork } from "../network/SandboxNetwork.js"
import * as HostPath from "../policy/HostPath.js"
import * as Name from "../policy/Name.js"
import type { Rule, SandboxPolicy } from "../policy/SandboxPolicy.js"
import type { RunningSandbox } from "./RunningSandbox.js"

/** The most servers that one result names. */
const mostServers = 5

/** The remarks that a session's results make once: what git may write, files that read as empty, new servers. */
export class OnceTold {
  /** The repository that git may write, until a result has said so. */
  private repository: Rule | undefined
  private readonly mayHaveEmpty: boolean
  private readonly empty = new Set<string>()
  private heard: ReadonlyArray<number> = []

  constructor(
    private readonly policy: SandboxPolicy,
    private readonly running: RunningSandbox,
    private readonly network: SandboxNetwork,
    private readonly jobs: { readonly running: number }
  ) {
    this.repository = policy.whitelist.find(({ source }) => source === "git")
    this.mayHaveEmpty = policy.blacklist.some(({ hidden }) => hidden === "empty")
  }

  /** Explains what git may write when a command first uses it. */
  ofRepository(command: string): string | undefined {
    const { repository } = this
    if (repository === undefined || !/\bgit\b/.test(command.slice(0, longestLook))) return undefined
    this.repository = undefined
    return `The sandbox lets git write ${Name.of(repository.path)}, but not its hooks.`
  }

  /** Names the files that read as empty since the last time. */
  ofEmpty(): string | undefined {
    if (!this.mayHaveEmpty) return undefined
    const fresh = this.running.masks().filter(({ path, standIn }) => standIn === "" && !this.empty.has(path))
    const first = fresh.find(({ path }) => HostPath.isWithin(path, this.policy.cwd)) ?? fresh[0]
    if (first === undefined) return undefined
    for (const { path } of fresh) this.empty.add(path)
    const what = fresh.length === 1 ? "an empty file" : `an empty file, and ${fresh.length - 1} more`
    return `The sandbox shows ${Name.of(first.path)} as ${what} (rule ${Name.ofEntry(first.rule.pattern)}).`
  }

  /** Returns the ports of the servers that commands have started since the last time. */
  newServers(mayAsk: boolean): ReadonlyArray<number> {
    // A server that outlives its command belongs to a job, or to a person's shell, which keeps its own.
    if (!mayAsk && this.jobs.running === 0 && this.heard.length === 0) return []
    const now = this.running.listening()
    const fresh = now.filter((port) => !this.heard.includes(port))
    this.heard = now
    return fresh.slice(0, mostServers)
  }

  /** Says how the user reaches servers. */
  ofServers(ports: ReadonlyArray<number>): string | undefined {
    const open = ports.map((port) => {
      const outside = this.network.outsideOf(port)
      const way =
        outside === undefined
          ? `synapse port ${port} opens it to the user`
          : `the user has it at http://127.0.0.1:${outside}`
      return `Listening on ${port}: ${way}.`
    })
    return open.length === 0 ? undefined : open.join(" ")
  }
}

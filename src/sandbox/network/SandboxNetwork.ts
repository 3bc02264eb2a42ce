/** The network of one session's sandbox: hosts by name, once the sandbox runs, and what was refused to each command. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { ExecutionFailed } from "../../domain/CommandError.js"
import type { LiveSandbox } from "../platform/SandboxPlatform.js"
import type { Hosts } from "../policy/HostEntry.js"
import type { Gateway, Refused } from "./Gateway.js"
import type { Upstream } from "./Upstream.js"

/** The most hosts that are kept for one command. */
const most = 100

/** The hosts that commands have reached and were refused since the last look. */
export interface Seen {
  readonly refused: ReadonlyArray<Refused>
  readonly reached: ReadonlyArray<string>
  /** Those that a person has allowed after the command had given up. */
  readonly late: ReadonlyArray<string>
}

/** The answer of a person, who is asked whether a host may be reached. */
export type Ask = (host: string, port: number) => Promise<boolean>

/** Gives a sandbox its network. */
export class SandboxNetwork {
  private gateway: Gateway | undefined
  private failure: string | undefined
  private readonly refused = new Map<string, Refused>()
  private readonly reached = new Set<string>()
  private readonly late = new Set<string>()
  /** The hosts that are allowed, as of now, and who is asked about others. */
  hosts: Hosts | undefined
  ask: Ask | undefined

  constructor(private readonly upstream: () => Upstream) {}

  /** True once commands have a network. */
  get isThere(): boolean {
    return this.gateway !== undefined
  }

  /**
   * Attaches the network to a sandbox that runs, until the scope ends; undefined where it has one. Where that fails, the sandbox
   * has none.
   */
  attach(live: LiveSandbox): Effect.Effect<void, never, Scope.Scope> | undefined {
    if (this.gateway !== undefined) return undefined
    return Effect.acquireRelease(this.open(live), (gateway) =>
      Effect.sync(() => {
        gateway.close()
        if (this.gateway === gateway) this.gateway = undefined
      })
    ).pipe(
      Effect.flatMap((gateway) =>
        Effect.sync(() => {
          this.gateway = gateway
        })
      ),
      Effect.catchAll(({ message }) =>
        Effect.sync(() => {
          this.failure = message
        })
      )
    )
  }

  /** Follows a change of the hosts. */
  readonly update: Effect.Effect<void> = Effect.promise(async () => this.gateway?.update().catch(() => {}))

  private open(live: LiveSandbox): Effect.Effect<Gateway, ExecutionFailed> {
    const failed = (reason: string) => new ExecutionFailed({ kind: "sandbox", reason })
    return Effect.gen(this, function* () {
      const module = yield* Effect.promise(() => import("./Gateway.js"))
      const door = yield* live.enterNetwork ?? failed("no network: this platform has none for sandboxes")
      const gateway = new module.Gateway({
        door,
        upstream: this.upstream(),
        hosts: () => this.hosts ?? { allowed: [], denied: [] },
        ask: this.ask && ((host, port) => this.ask?.(host, port) ?? Promise.resolve(false)),
        onReached: (host, port) => this.note(this.reached, `${host}:${port}`),
        onLate: (host, port) => this.note(this.late, `${host}:${port}`),
        onRefused: (refused) => {
          const key = `${refused.host}:${refused.port}`
          if (this.refused.size < most) this.refused.set(key, refused)
        }
      })
      yield* Effect.tryPromise({
        try: () => gateway.open(),
        catch: (error) => {
          gateway.close()
          return failed(`no network: ${(error as Error).message}`)
        }
      })
      return gateway
    })
  }

  private note(known: Set<string>, text: string): void {
    if (known.size < most) known.add(text)
  }

  /** Tells, once, why there is no network. */
  notice(): string | undefined {
    const said = this.failure
    this.failure = undefined
    return said === undefined ? undefined : `The hosts that are allowed can't be reached: ${said}.`
  }

  /** Returns what was reached and refused since the last look. */
  take(): Seen {
    const seen = { refused: [...this.refused.values()], reached: [...this.reached], late: [...this.late] }
    this.refused.clear()
    this.reached.clear()
    this.late.clear()
    this.gateway?.forget()
    return seen
  }
}

/**
 * The network of a session's sandbox: the allowed hosts, the published ports, and what was refused to each command.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { ExecutionFailed } from "../../domain/CommandError.js"
import type { LiveSandbox } from "../platform/SandboxPlatform.js"
import type { Hosts } from "../policy/HostEntry.js"
import type { Published } from "../policy/SandboxPolicy.js"
import type { Ask, Gateway, Refused } from "./Gateway.js"
import type { Upstream } from "./Upstream.js"

/** How many hosts are kept per command. */
const most = 100

/** The hosts that commands have reached or were refused since the last call of `take`. */
export interface Seen {
  readonly refused: ReadonlyArray<Refused>
  readonly reached: ReadonlyArray<string>
  /** Allowed hosts that the machine could not reach, each with the reason. */
  readonly failed: ReadonlyArray<string>
  /** Hosts that a person allowed after the command had given up. */
  readonly late: ReadonlyArray<string>
}

const failed = (reason: string) => new ExecutionFailed({ kind: "sandbox", reason })

const enter = (live: LiveSandbox, isAsked: boolean) =>
  live.enterNetwork?.(isAsked) ?? failed("no network: this platform has none for sandboxes")

export class SandboxNetwork {
  private gateway: Gateway | undefined
  /** True once the hosts were attached, also if that failed. */
  isTried = false
  private readonly failures: Array<string> = []
  private readonly published: Array<Published>
  /** The ports that the running sandbox has tried to open on the machine. */
  private readonly attached = new Set<Published>()
  /** The ports that are open on the machine. */
  private readonly opened = new Set<Published>()
  private readonly refused = new Map<string, Refused>()
  private readonly reached = new Set<string>()
  private readonly failed = new Set<string>()
  private readonly late = new Set<string>()
  /** The hosts that are allowed now, and who is asked about others. */
  hosts: Hosts | undefined
  ask: Ask | undefined

  constructor(
    private readonly upstream: () => Upstream,
    published: ReadonlyArray<Published> = []
  ) {
    this.published = [...published]
  }

  /** True once commands have a network. */
  get isThere(): boolean {
    return this.gateway !== undefined
  }

  /**
   * Attaches the hosts and the published ports to a running sandbox until the scope ends, unless they are attached. If
   * one fails, the sandbox goes without it.
   */
  attach(live: LiveSandbox): Effect.Effect<void, never, Scope.Scope> | undefined {
    const ports = this.published.filter((port) => !this.attached.has(port))
    const parts = [
      ...(this.gateway === undefined && this.hosts !== undefined ? [this.attachHosts(live)] : []),
      ...(ports.length === 0 ? [] : [this.attachPorts(live, ports)])
    ]
    return parts.length === 0 ? undefined : Effect.all(parts, { concurrency: 2, discard: true })
  }

  private attachHosts(live: LiveSandbox): Effect.Effect<void, never, Scope.Scope> {
    this.isTried = true
    return Effect.acquireRelease(this.open(live), (gateway) =>
      Effect.sync(() => {
        gateway.close()
        if (this.gateway === gateway) this.gateway = undefined
        this.isTried = false
      })
    ).pipe(
      Effect.flatMap((gateway) =>
        Effect.sync(() => {
          this.gateway = gateway
        })
      ),
      // Nobody waits for hosts where none is allowed.
      this.hosts?.allowed.length === 0 ? Effect.ignore : this.noting("The hosts that are allowed can't be reached")
    )
  }

  /** Adds a port to open, at the next `attach`. */
  publish(port: Published): void {
    this.published.push(port)
  }

  /** Tests whether a port is to be published. */
  isPublished(inside: number): boolean {
    return this.published.some((port) => port.inside === inside)
  }

  /** Returns the machine's port at which a port of the sandbox is open; undefined if it is not. */
  outsideOf(inside: number): number | undefined {
    return [...this.opened].find((port) => port.inside === inside)?.outside
  }

  private attachPorts(live: LiveSandbox, ports: ReadonlyArray<Published>): Effect.Effect<void, never, Scope.Scope> {
    return Effect.gen(this, function* () {
      const { open } = yield* Effect.promise(() => import("./Publisher.js"))
      for (const port of ports) this.attached.add(port)
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const port of ports) this.attached.delete(port)
        })
      )
      const door = yield* Effect.acquireRelease(enter(live, false), ({ close }) => Effect.sync(close))
      yield* Effect.forEach(ports, (port) =>
        Effect.acquireRelease(
          Effect.tryPromise({ try: () => open(door, port), catch: (error) => failed((error as Error).message) }),
          (server) =>
            Effect.sync(() => {
              this.opened.delete(port)
              server.close()
            })
        ).pipe(
          Effect.tap(() => Effect.sync(() => this.opened.add(port))),
          this.noting(`Port ${port.inside} is not open to the user`)
        )
      )
    }).pipe(this.noting("No port is open to the user"))
  }

  /** Keeps the reason of a failure for the next result. */
  private noting(what: string) {
    return <A, R>(effect: Effect.Effect<A, ExecutionFailed, R>): Effect.Effect<void, never, R> =>
      Effect.catchAll(Effect.asVoid(effect), ({ message }) =>
        Effect.sync(() => {
          this.failures.push(`${what}: ${message}.`)
        })
      )
  }

  readonly update: Effect.Effect<void> = Effect.promise(async () => this.gateway?.update().catch(() => {}))

  /** Waits for the answers to the open questions. */
  readonly settled: Effect.Effect<void> = Effect.promise(async () => this.gateway?.settled())

  private open(live: LiveSandbox): Effect.Effect<Gateway, ExecutionFailed> {
    return Effect.gen(this, function* () {
      const module = yield* Effect.promise(() => import("./Gateway.js"))
      const door = yield* enter(live, true)
      const gateway = new module.Gateway({
        door,
        upstream: this.upstream(),
        hosts: () => this.hosts ?? { allowed: [], denied: [] },
        ask: this.ask && ((...asked) => this.ask?.(...asked) ?? Promise.resolve(false)),
        onReached: (host, port) => this.note(this.reached, `${host}:${port}`),
        onFailed: (host, port, reason) => {
          this.note(this.failed, `${port === undefined ? host : `${host}:${port}`} (${reason})`)
        },
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

  /** Says, once, what could not be attached and why. */
  notice(): string | undefined {
    return this.failures.splice(0).join(" ") || undefined
  }

  take(): Seen {
    const seen = {
      refused: [...this.refused.values()],
      reached: [...this.reached],
      failed: [...this.failed],
      late: [...this.late]
    }
    for (const known of [this.refused, this.reached, this.failed, this.late]) known.clear()
    this.gateway?.forget()
    return seen
  }
}

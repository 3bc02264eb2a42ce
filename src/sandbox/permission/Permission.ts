/**
 * Asks a person for permission when the policy denies something.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HostEntry from "../policy/HostEntry.js"
import * as PathEntry from "../policy/PathEntry.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import type { Rule } from "../policy/SandboxPolicy.js"

/**
 * The sub-agent whose command was denied something.
 *
 * @since 0.1.0
 * @category models
 */
export interface Task {
  /** The type of the sub-agent, as `explore`. */
  readonly type: string
  /** The task in a few words, as a model wrote them. */
  readonly description: string
}

/**
 * A question for permission: the denied access, the rule that denies it, and the command. `resource` is a real path, or
 * an address on the network.
 *
 * @since 0.1.0
 * @category models
 */
export interface PermissionRequest {
  readonly resource: string
  readonly access: PolicyDecision.Access | "network"
  readonly rule: Rule
  /** The command line that was denied. */
  readonly command: string
  readonly reason: string
  /** True where the command has run: what is allowed, it gets when it is run again. */
  readonly hasRun?: true
  /** The sub-agent that the question is asked for; undefined for the session itself. Its session ends with its task. */
  readonly task?: Task
}

/**
 * The answer to a question for permission. Each allows the resource and nothing around it: for this command, until the
 * session ends, or permanently, in `sandbox.json`. While the command runs that is allowed something once, background
 * processes of the same sandbox are allowed it too.
 *
 * @since 0.1.0
 * @category models
 */
export type Answer = "allow_once" | "allow_session" | "allow_permanent" | "deny"

/**
 * Asks a person whether a command may do what the policy denies it.
 *
 * @since 0.1.0
 * @category tags
 */
export class Permission extends Context.Tag("synapse/Permission")<
  Permission,
  {
    /** Asks, and returns one of the answers that `choices` offers; `deny` where nobody can be asked. */
    readonly ask: (request: PermissionRequest) => Effect.Effect<Answer>
    /** True where nobody can be asked, so that a question need not be prepared for. */
    readonly isDeaf?: true
  }
>() {}

/**
 * Returns the answers that may be given, the narrowest first and `deny` last.
 *
 * A path on a blacklist can be allowed to be read: permanently where a built-in rule denies it, for the session at most where
 * the user's own does. So can a host that no entry names. Unix sockets, Synapse's own files, and those that MCP servers run can never
 * be allowed. A sub-agent is allowed nothing permanently: its policy is its own, and ends with it.
 *
 * @since 0.1.0
 */
export const choices = ({ access, resource, rule, task }: PermissionRequest): ReadonlyArray<Answer> => {
  if (access === "network" && rule.pattern === HostEntry.unnamed) {
    return ["allow_once", "allow_session", ...(task === undefined ? (["allow_permanent"] as const) : []), "deny"]
  }
  if (access === "network" || ["own", "trust", "socket"].includes(rule.source)) return ["deny"]
  if (!PolicyDecision.isNotWhitelisted(rule)) {
    if (access === "write") return ["deny"]
    // Of a hidden directory, a running sandbox can't be shown one file and hidden it again: only a new one can.
    const isBelow = rule.kind === "path" && rule.path !== resource
    const isKept = rule.source === "default" && task === undefined
    return [
      ...(isBelow ? [] : (["allow_once"] as const)),
      "allow_session",
      ...(isKept ? (["allow_permanent"] as const) : []),
      "deny"
    ]
  }
  if (PathEntry.unwritable(resource) !== undefined) return ["deny"]
  return task === undefined
    ? ["allow_once", "allow_session", "allow_permanent", "deny"]
    : ["allow_once", "allow_session", "deny"]
}

/**
 * Narrows an answer to those on offer: `allow_permanent` becomes `allow_session` where only that is offered; otherwise
 * `deny`.
 */
const within = (offered: ReadonlyArray<Answer>, answer: Answer): Answer => {
  if (offered.includes(answer)) return answer
  return answer === "allow_permanent" && offered.includes("allow_session") ? "allow_session" : "deny"
}

/**
 * Makes a Permission which asks only where there is a choice, and takes every failure of `ask` for a denial.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  ask: (request: PermissionRequest, offered: ReadonlyArray<Answer>) => Effect.Effect<Answer, unknown>
): Context.Tag.Service<Permission> => ({
  ask: Effect.fn("Permission.ask")(function* (request) {
    const offered = choices(request)
    if (offered.length === 1) return "deny"
    const answer = yield* Effect.suspend(() => ask(request, offered)).pipe(
      Effect.catchAllCause((cause) =>
        Effect.as(Effect.logWarning("The question for permission failed", cause), "deny" as const)
      )
    )
    return within(offered, answer)
  })
})

/**
 * Makes the Permission of a sub-agent: it asks whom its parent asks, in the same order, and names the task. Where the
 * sub-agent only reads, nobody is asked about a write.
 *
 * @since 0.1.0
 * @category constructors
 */
export const forTask = (
  parent: Context.Tag.Service<Permission>,
  task: Task,
  isReadOnly: boolean
): Context.Tag.Service<Permission> => ({
  ...parent,
  ask: (request) =>
    isReadOnly && request.access === "write" ? Effect.succeed("deny") : parent.ask({ ...request, task })
})

/**
 * Asks nobody: everything that the policy denies stays denied.
 *
 * @since 0.1.0
 * @internal
 */
export const none: Context.Tag.Service<Permission> = { ...make(() => Effect.succeed("deny")), isDeaf: true }

/**
 * A layer which asks nobody: everything that the policy denies stays denied.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<Permission> = Layer.succeed(Permission, none)

/**
 * A layer which asks the program that embeds Synapse, one question at a time: the callback answers with an Effect or a
 * promise.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerCallback = (
  ask: (
    request: PermissionRequest,
    offered: ReadonlyArray<Answer>
  ) => Effect.Effect<Answer, unknown> | PromiseLike<Answer>
): Layer.Layer<Permission> =>
  Layer.effect(
    Permission,
    Effect.map(Effect.makeSemaphore(1), (turn) =>
      make((request, offered) =>
        turn.withPermits(1)(
          Effect.suspend(() => {
            const answer = ask(request, offered)
            return Effect.isEffect(answer) ? answer : Effect.tryPromise(async () => answer)
          })
        )
      )
    )
  )

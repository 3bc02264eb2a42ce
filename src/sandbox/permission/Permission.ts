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
  /** The type of the sub-agent, such as `explore`. */
  readonly type: string
  /** The task in a few words, as a model wrote them. */
  readonly description: string
}

/**
 * A question for permission: the denied access, the rule that denies it, and the command. `resource` is a real path or
 * a network address. `open` asks whether a server of the sandbox may be opened at `resource`, an address of the machine.
 *
 * @since 0.1.0
 * @category models
 */
export interface PermissionRequest {
  readonly resource: string
  readonly access: PolicyDecision.Access | "network" | "open"
  readonly rule: Rule
  /** The command line that was denied. For a host or a server, the last one; empty if none ran. */
  readonly command: string
  readonly reason: string
  /** True if the command has already run. An allowed access then takes effect when the command is run again. */
  readonly hasRun?: true
  /**
   * The sub-agent that the question is for; undefined for the session itself. A sub-agent's session ends with its task.
   */
  readonly task?: Task
}

/**
 * The answer to a question for permission. Each allows only the resource itself: for this command, until the session
 * ends, or permanently, in `sandbox.json`. While a command with a one-time permission runs, background processes of the
 * same sandbox have it too.
 *
 * @since 0.1.0
 * @category models
 */
export type Answer = "allow_once" | "allow_session" | "allow_permanent" | "deny"

/**
 * Asks a person whether a command may do what the policy denies.
 *
 * @since 0.1.0
 * @category tags
 */
export class Permission extends Context.Tag("synapse/Permission")<
  Permission,
  {
    /** Asks, and returns one of the answers that `choices` offers; `deny` if nobody can be asked. */
    readonly ask: (request: PermissionRequest) => Effect.Effect<Answer>
    /** True if nobody can be asked, so that questions need not be prepared. */
    readonly isDeaf?: true
  }
>() {}

/**
 * Returns the possible answers, narrowest first and `deny` last.
 *
 * Reading a blacklisted path can be allowed: permanently if a built-in rule denies it, but at most for the session if a
 * user's rule does. So can a host that no entry names. Unix sockets, Synapse's own files, and files that MCP servers
 * run can never be allowed. A sub-agent gets nothing permanently, because its policy ends with it.
 *
 * @since 0.1.0
 */
export const choices = ({ access, hasRun, resource, rule, task }: PermissionRequest): ReadonlyArray<Answer> => {
  if (access === "open") return task === undefined ? ["allow_session", "deny"] : ["deny"]
  if (access === "network" && rule.pattern === HostEntry.unnamed) {
    return [
      // What a command was refused while it ran can't be kept for its next run alone.
      ...(hasRun === true ? [] : (["allow_once"] as const)),
      "allow_session",
      ...(task === undefined ? (["allow_permanent"] as const) : []),
      "deny"
    ]
  }
  if (access === "network" || ["own", "trust", "socket"].includes(rule.source)) return ["deny"]
  if (!PolicyDecision.isNotWhitelisted(rule)) {
    if (access === "write") return ["deny"]
    // A running sandbox can't show one file of a hidden directory and hide it again: only a new sandbox can.
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

/** Narrows an answer to those offered: `allow_permanent` may become `allow_session`; anything else becomes `deny`. */
const within = (offered: ReadonlyArray<Answer>, answer: Answer): Answer => {
  if (offered.includes(answer)) return answer
  return answer === "allow_permanent" && offered.includes("allow_session") ? "allow_session" : "deny"
}

/**
 * Makes a Permission which asks only if there is a choice, and treats every failure of `ask` as a denial.
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
 * Makes a sub-agent's Permission: it asks through the parent's, one question at a time, and names the task. If the
 * sub-agent is read-only, nobody is asked about a write.
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
 * A layer which asks the program that embeds Synapse, one question at a time. The callback answers with an Effect or a
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
